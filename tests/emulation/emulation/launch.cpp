#include "emulation/launch.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <limits>
#include <mutex>

#include "emulation/block_watch.h"
#include "emulation/helper_threads.h"

namespace emulation {

std::string refusal_of(const LaunchShape& shape) {
  const Index& grid = shape.grid;
  const Index& block = shape.block;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || block.x == 0 || block.y == 0 || block.z == 0)
    return "a grid or a block without threads";
  if (!shape.is_of_cuda) return "";
  if (grid.x > 0x7fffffffU || grid.y > 65535 || grid.z > 65535)
    return "a grid of more than 2147483647 x 65535 x 65535 blocks";
  if (block.x > 1024 || block.y > 1024 || block.z > 64 || std::uint64_t{block.x} * block.y * block.z > 1024)
    return "a block of more than 1024 x 1024 x 64 or of more than 1024 threads";
  return "";
}

namespace {

// A grid, and the next of its blocks to run.
class Grid {
 public:
  Grid(const std::string& kernel, const LaunchShape& shape, const std::function<void()>& body)
      : kernel_(kernel),
        shape_(shape),
        body_(body),
        count_(std::uint64_t{shape.grid.x} * shape.grid.y * shape.grid.z) {}

  std::uint64_t count() const { return count_; }

  // Runs blocks on the calling OS thread until none is left. Calls `after_block` after each one.
  template <class AfterBlock>
  void run_blocks(BlockWatch& watch, const AfterBlock& after_block) {
    thread_local Block block;  // its fibers serve later launches of this OS thread
    thread_local WatchedBlocks& watched = watch.add();
    block.prepare(kernel_, shape_, body_, watched);
    for (std::uint64_t number = next_++; number < count_; number = next_++) {
      try {
        block.run(index(shape_.order == Order::reverse ? count_ - 1 - number : number));
      } catch (...) {
        note_error(number);
      }
      after_block();
    }
  }

  void rethrow_error() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  Index index(std::uint64_t rank) const {
    const Index& size = shape_.grid;
    return {static_cast<unsigned>(rank % size.x), static_cast<unsigned>(rank / size.x % size.y),
            static_cast<unsigned>(rank / size.x / size.y)};
  }

  void note_error(std::uint64_t number) {
    const std::scoped_lock lock(mutex_);
    if (number < first_failed_) {
      first_failed_ = number;
      error_ = std::current_exception();
    }
    next_ = count_;
  }

  const std::string& kernel_;
  const LaunchShape& shape_;
  const std::function<void()>& body_;
  const std::uint64_t count_;
  std::atomic<std::uint64_t> next_{0};
  std::mutex mutex_;
  std::uint64_t first_failed_ = std::numeric_limits<std::uint64_t>::max();
  std::exception_ptr error_;
};

}  // namespace

void run_grid(const std::string& kernel, const LaunchShape& shape, const std::function<void()>& body) {
  if (const std::string refusal = refusal_of(shape); !refusal.empty()) throw KernelError(kernel + ": " + refusal);
  Grid grid(kernel, shape, body);
  thread_local HelperThreads helpers;  // they serve later launches of this OS thread
  thread_local BlockWatch watch;       // ends before the helpers do
  watch.set_limit(shape.time_limit);
  const std::function<void()> help = [&own_watch = watch, &grid] { grid.run_blocks(own_watch, [] {}); };
  const auto wanted = static_cast<unsigned>(std::min<std::uint64_t>(helpers.most(), grid.count() - 1));
  // Short launches are over before a helper would wake up.
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  bool are_called = wanted == 0;
  const auto call_helpers = [&] {
    if (are_called || Clock::now() - begin < HelperThreads::patience) return;
    are_called = true;
    helpers.call(wanted, help);
  };
  call_helpers();
  grid.run_blocks(watch, call_helpers);
  helpers.wait();
  grid.rethrow_error();
}

}  // namespace emulation
