// mbarriers, and cp.async.bulk.tensor (TMA): copies of tiles from global to shared memory by a unit of their own, which
// report their bytes to an mbarrier. PTX ISA 8.5, "Parallel Synchronization: mbarrier" and "Tensors"; CUDA Driver API,
// cuTensorMapEncodeTiled.
//
// A GPU may write a tile at any time between the start of the copy and the end of the barrier's phase. Here it holds
// 0xff (NaN) from the start on, and the data only when the phase ends. A copy arrives when no thread can go on without
// it, and copies that are under way arrive one at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <source_location>
#include <string>
#include <vector>

namespace emulation {

struct GpuThread;
struct Site;

// The contents of a CUtensorMap in the emulator. Sizes and strides are those of the driver's function: the innermost
// axis is first and has no stride.
struct TensorMap {
  static constexpr std::uint64_t right_magic = 0x74656e736f726d61;
  static constexpr unsigned most_axes = 5;
  std::uint64_t magic = 0, address = 0;
  std::array<std::uint64_t, most_axes - 1> strides{};  // in bytes
  std::array<std::uint64_t, most_axes> sizes{};
  std::array<std::uint16_t, most_axes> box{};
  std::uint8_t axes = 0, item_bytes = 0;
  std::uint16_t swizzle = 0;  // 0, 32, 64 or 128: the bytes within which chunks of 16 bytes are permuted
};
static_assert(sizeof(TensorMap) <= 128);

// The address that data for `address` goes to: the row of 128 bytes permutes the chunks of 16 bytes.
constexpr std::uintptr_t swizzled(std::uintptr_t address, unsigned swizzle) {
  return swizzle < 32 ? address : address ^ (address >> 7 & (swizzle / 16 - 1)) << 4;
}

struct TileCopy {
  std::byte* to;
  unsigned swizzle;
  std::vector<std::byte> bytes;
};

struct AsyncBarrier;
struct StartedCopy {
  TileCopy copy;
  AsyncBarrier* barrier;
};

struct AsyncBarrier {
  unsigned count = 0, phase = 0;
  std::int64_t pending = 0, bytes = 0;    // arrivals and bytes that the phase lacks
  const GpuThread* not_fenced = nullptr;  // who made the barrier, until the unit that copies can see it
  std::vector<GpuThread*> waiting;
  std::vector<TileCopy> copies;  // that have arrived in this phase
  std::array<char, 2> turns{};   // their addresses order the threads, for ThreadSanitizer
};

// The barriers of a block, by their addresses.
using AsyncBarriers = std::map<const void*, AsyncBarrier>;

// "phase 3 lacks 1 arrival and 4096 bytes", for reports.
std::string text(const AsyncBarrier& barrier);

using Source = std::source_location;
// The barrier is 8 bytes of shared memory. A phase ends when `count` threads have arrived and all expected bytes have.
void mbarrier_init(void* barrier, unsigned count, Source at = Source::current());
void mbarrier_arrive(void* barrier, Source at = Source::current());
// Arrives, and says how many bytes of copies belong to the phase.
void mbarrier_arrive_expect_tx(void* barrier, unsigned bytes, Source at = Source::current());
// Waits until the phase of this parity has ended: 0 for the first one.
void mbarrier_wait(void* barrier, unsigned parity, Source at = Source::current());
// Makes what this thread has written, barriers included, visible to the unit that copies and to matrix instructions.
void fence_proxy_async();
// Starts the copy of the box at these coordinates, innermost axis first. What is outside of the tensor becomes zero.
void copy_tile(void* shared, const void* map, const std::int32_t* coordinates, unsigned axes, void* barrier,
               Source at = Source::current());
// The copy of this number among those under way in the current block arrives.
void land_copy(std::size_t number);

}  // namespace emulation
