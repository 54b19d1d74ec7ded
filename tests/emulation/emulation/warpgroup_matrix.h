// wgmma.mma_async: matrix instructions of a warp group, which read factors from shared memory through descriptors; A
// may be in registers. PTX ISA 8.5, "Asynchronous Warpgroup Level Matrix Instructions".
//
// The sums hold NaN from the instruction to the wait on, so a kernel that reads them before shows. A wait ends when no
// other thread can go on, one warp after the other: code that does not wait for the instructions runs before.
// The factors are read when the first warp issues the instruction and again when it ends for each warp: a difference is
// a fault. So are a tile's copy that starts there in between, and factors that threads have written without a
// fence.proxy.async.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <source_location>
#include <vector>

namespace emulation {

// Replaces the descriptor of A if A is in registers.
constexpr std::uint64_t in_registers = ~std::uint64_t{0};

// m64 n k16, with factors of 2 bytes and float sums. Only shared memory of one kind of swizzle is described.
struct MatrixInstruction {
  unsigned n = 0;
  bool is_bfloat16 = false;
  // The matrix descriptors of the PTX ISA. `along_k`: neighbours in memory are neighbours along K.
  std::uint64_t a = 0, b = 0;
  bool a_along_k = true, b_along_k = true;
  bool operator==(const MatrixInstruction&) const = default;
};

// An instruction that the threads of a warp group issue. The first of them makes it.
struct IssuedMatrix {
  MatrixInstruction instruction;
  std::vector<std::uint16_t> a, b;  // as read at first: 64 x 16, 16 x n by columns
  std::vector<float> a_values, b_values;
  std::vector<std::uintptr_t> chunks;  // the addresses of 16 bytes of which it reads some
  unsigned ended = 0;                  // threads for which it has
  std::uint8_t checked = 0;            // a bit for each warp for which it has
};

struct Warpgroup {
  std::deque<IssuedMatrix> issued;
  std::uint64_t first = 0;  // the number of issued.front()
};

// The matrix instructions of a thread.
struct MatrixWork {
  struct Sums {
    float* at;
    std::vector<float> values;
    unsigned instructions = 0;  // that have yet to end
  };
  struct Pending {
    std::uint64_t number;
    float* sums;
    bool adds;
  };
  std::uint64_t issued = 0;
  bool is_fenced = false;
  std::vector<Sums> sums;
  std::deque<Pending> pending;
  std::deque<std::size_t> groups;  // instructions of each committed group
  std::size_t uncommitted = 0;
};

using MatrixSource = std::source_location;
void wgmma_fence();
// `sums` has n / 2 floats of this thread. `adds`: to what they hold, else to zero. `fragment`: the thread's four
// registers of A, if `instruction.a` is in_registers; they are read when the instruction is issued.
void wgmma(float* sums, const MatrixInstruction& instruction, bool adds, const std::uint32_t* fragment = nullptr,
           MatrixSource at = MatrixSource::current());
void wgmma_commit(MatrixSource at = MatrixSource::current());
// Whether an instruction that has not ended for all warps reads some of these bytes of shared memory.
bool is_read_by_wgmma(const void* shared, std::size_t bytes);
// Waits until at most `newest` groups of the thread are left.
void wgmma_wait(unsigned newest, MatrixSource at = MatrixSource::current());
// A descriptor: the address in shared memory, the offsets of the layout in bytes, and the swizzle in bytes.
std::uint64_t matrix_descriptor(const void* shared, unsigned leading, unsigned stride, unsigned swizzle);

}  // namespace emulation
