// One block of GPU threads: runs them in turn on one OS thread, and lets them meet at barriers and in warps.
//
// A thread runs until it waits for others. Threads run one after the other on one stack until one waits; only then does
// the next one get another stack. The order in which threads run between two meetings can be chosen, so a kernel that
// lacks a barrier gives other results with another order.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "emulation/block_watch.h"
#include "emulation/fiber.h"
#include "emulation/tile_copies.h"
#include "emulation/warpgroup_matrix.h"

using EmulationSource = std::source_location;

namespace emulation {

struct Index {
  unsigned x = 0, y = 0, z = 0;
};

constexpr unsigned warp_size = 32;
// Bytes of a block's shared memory: for every kernel, and for one that asks for more (compute capability 9.0).
constexpr std::size_t shared_without_opt_in = std::size_t{48} << 10, most_shared = std::size_t{227} << 10;

// A fault of a kernel. The text names the kernel, the block, the threads and the lines.
class KernelError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A place in the source of a kernel.
struct SourceLine {
  SourceLine() = default;
  SourceLine(const std::source_location& at) : file(at.file_name()), line(at.line()), column(at.column()) {}
  SourceLine(const char* file, unsigned line, unsigned column) : file(file), line(line), column(column) {}
  const char* file = "";
  unsigned line = 0, column = 0;
};

// The function in which a thread waits, and the source line that calls it.
struct Site {
  const char* function = "";
  SourceLine at;
  bool operator==(const Site& other) const {
    return at.line == other.at.line && at.column == other.at.column && is_same(at.file, other.at.file) &&
           is_same(function, other.function);
  }

 private:
  static bool is_same(const char* x, const char* y) { return x == y || std::string_view(x) == y; }
};

enum class Order : std::uint8_t { forward, reverse, random };

struct LaunchShape {
  Index grid{1, 1, 1}, block{1, 1, 1};
  std::size_t dynamic_shared = 0;          // bytes
  std::size_t shared_limit = most_shared;  // bytes of a block, static and dynamic
  Order order = Order::forward;
  std::uint64_t seed = 0;  // of Order::random
  bool is_of_cuda = true;  // the grid and the block have the sizes that CUDA allows
  // Processor time that a block may take, because one with a thread that spins never ends; 0: no limit.
  std::chrono::milliseconds time_limit{60'000};
};

class Block;
class Warp;

struct AsyncCopy {
  void* to;
  std::array<std::byte, 16> bytes;
};

struct GpuThread {
  enum class State : std::uint8_t { ready, waits, ended };
  Index index;
  unsigned rank = 0, lane = 0;
  Warp* warp = nullptr;
  State state = State::ready;
  Site site;                // of the last wait
  std::uint32_t mask = 0;   // of the warp function in which it waits, else 0
  Fiber* fiber = nullptr;   // on which it began; null before that
  unsigned polls = 0;       // since it last let other threads go on
  bool is_polling = false;  // it has let others go on, and only asks again for what they do
  // cp.async (async_copies.h): copies that have not landed, and for each committed group the number of copies up to its
  // end.
  std::vector<AsyncCopy> copies;
  std::vector<std::size_t> copy_groups;
  MatrixWork matrix_work;                 // wgmma (warpgroup_matrix.h)
  const AsyncBarrier* awaited = nullptr;  // the mbarrier for which it waits
  bool is_last = false;                   // waits until no other thread can go on
};

// The thread that runs on this OS thread; null outside of kernels.
extern constinit thread_local GpuThread* current_thread;
extern constinit thread_local Block* current_block;

// The values that the lanes of a mask exchange. Two sets are used in turn: a lane may go on to the next exchange while
// others still read.
struct Meeting {
  static constexpr std::size_t most_bytes = 32;  // of a value
  std::uint32_t mask = 0, arrived = 0, took_part = 0;
  Site site;
  unsigned turn = 0;
  struct Lanes {
    std::uint32_t present = 0;
    alignas(16) std::array<std::array<std::byte, most_bytes>, warp_size> values;
  };
  std::array<Lanes, 2> sets;
};

class Warp {
 public:
  // Waits for all lanes of the mask that have not ended; returns their values.
  const Meeting::Lanes& meet(std::uint32_t mask, const Site& site, const void* value, std::size_t bytes);
  std::uint32_t ended() const { return ended_; }  // lanes that have ended, and those that the block does not have

 private:
  friend class Block;
  void begin();
  void finish_if_complete(Meeting& meeting);
  GpuThread* lanes_ = nullptr;
  unsigned count_ = 0;
  std::uint32_t ended_ = 0;
  std::vector<std::unique_ptr<Meeting>> meetings_;  // one for each mask that was used
};

class Block {
 public:
  Block() = default;
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  // Prepares to run blocks of a launch. The arguments must outlive the runs.
  void prepare(const std::string& kernel, const LaunchShape& shape, const std::function<void()>& body,
               WatchedBlocks& watched);
  // Runs the block of this index. Throws KernelError, or what a thread threw.
  void run(Index index);

  // Waits until all threads that have not ended have arrived.
  void wait_at_barrier(const Site& site);
  // Memory that is shared by the block, of exactly this size, for the declaration `key`; at first every byte is 0xff,
  // which is NaN in each floating-point dtype.
  void* shared(const void* key, std::size_t bytes);
  void* dynamic_shared();
  bool is_shared(const void* begin, std::size_t bytes) const;
  // The byte of shared memory whose address is `place` modulo `window`; null if there is none. The first
  // declaration that has it is used: the tiles of a kernel are in one.
  const std::byte* shared_in_window(std::uintptr_t place, std::uintptr_t window) const;
  // The bytes that TMA and matrix instructions see at this address of shared memory. They see the writes of threads
  // only after publish_shared().
  std::byte* published(const void* shared);
  void publish_shared();
  AsyncBarriers async_barriers;              // tile_copies.h
  std::vector<StartedCopy> started_copies;   // in order
  std::map<unsigned, Warpgroup> warpgroups;  // warpgroup_matrix.h

  [[noreturn]] void fail(const Site& site, const std::string& what);
  void wait(const Site& site, std::uint32_t mask);  // of the current thread; returns when it is ready again
  // Waits until no other thread of the block can go on, for instructions that may end as late as that.
  void wait_as_last(const Site& site);
  // Lets the other threads of the block go on.
  void let_others_run(const Site& site);
  // Lists the positions of the threads when one of them runs for too long. Called by another OS thread, which ends the
  // process.
  std::string spin_report() const;

 private:
  friend class Warp;
  struct Barrier {
    unsigned turn = 0;
    Site site;
    std::vector<GpuThread*> waiting;
    std::array<char, 2> turns{};  // their addresses order the threads, for ThreadSanitizer
  };
  using SharedBytes = std::unique_ptr<std::byte, void (*)(std::byte*)>;
  struct Shared {
    const void* key;
    SharedBytes memory;
    std::size_t bytes;
    std::vector<std::byte> published;  // empty until it is used
  };
  void begin_threads();
  void make_current(GpuThread& thread);
  void run_thread(GpuThread& thread) noexcept;
  void end_thread(GpuThread& thread);
  void finish_barrier_if_complete();
  bool end_asynchronous_work();
  bool resume_last_warp();
  SharedBytes allocate_shared(std::size_t bytes);
  std::string report(const std::string& what) const;
  std::string where(const GpuThread& thread) const;
  void set_running_order(std::uint64_t pass);

  const std::string* kernel_ = nullptr;
  const LaunchShape* shape_ = nullptr;
  const std::function<void()>* body_ = nullptr;
  WatchedBlocks* watched_ = nullptr;
  const GpuThread* running_ = nullptr;
  Index index_;
  std::vector<GpuThread> threads_;
  std::vector<Warp> warps_;
  std::vector<unsigned> order_;  // ranks, in the order in which the threads run
  std::size_t begun_ = 0;        // threads of `order_` that have begun
  Fiber* beginning_ = nullptr;   // the fiber on which they begin
  FiberPool fibers_;
  Barrier barrier_;
  std::vector<Shared> shared_;
  std::size_t shared_bytes_ = 0;
  char begin_ = 0, end_ = 0;  // their addresses order the scheduler and the threads, for ThreadSanitizer
  unsigned live_ = 0;
  std::exception_ptr error_;
};

// Called by functions with which kernels ask for what other threads have done, such as atomic ones. A loop that does
// nothing else lets the other threads go on now and then, and is found if it never ends (block_watch.h).
void poll(const Site& site);

}  // namespace emulation

// CUDA's variables, of the thread that runs on this OS thread. They are no macros, which would break the fields gridDim
// and blockDim of cudaKernelNodeParams.
extern constinit thread_local emulation::Index threadIdx, blockIdx, blockDim, gridDim;
