// wgmma.mma_async: matrix instructions of a warp group, which read both factors from shared memory through descriptors.
// PTX ISA 8.5, "Asynchronous Warpgroup Level Matrix Instructions".
//
// The sums hold NaN from the instruction to the wait on, so a kernel that reads them before shows. The factors are read
// when the first warp issues the instruction and again when it ends: a difference is a fault.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <source_location>
#include <vector>

namespace emulation {

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
  unsigned ended = 0;  // threads for which it has
  bool is_checked = false;
};

struct Warpgroup {
  std::deque<IssuedMatrix> issued;
  std::uint64_t first = 0;  // the number of issued.front()
};

// Of a thread.
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
// `sums` has n / 2 floats of this thread. `adds`: to what they hold, else to zero.
void wgmma(float* sums, const MatrixInstruction& instruction, bool adds, MatrixSource at = MatrixSource::current());
void wgmma_commit(MatrixSource at = MatrixSource::current());
// Waits until at most `newest` groups of the thread are left.
void wgmma_wait(unsigned newest, MatrixSource at = MatrixSource::current());
// A descriptor: the address in shared memory, the offsets of the layout in bytes, and the swizzle in bytes.
std::uint64_t matrix_descriptor(const void* shared, unsigned leading, unsigned stride, unsigned swizzle);

}  // namespace emulation
