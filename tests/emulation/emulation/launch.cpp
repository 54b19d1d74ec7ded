#include "emulation/launch.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

namespace emulation {

std::string refusal_of(const LaunchShape& shape) {
  const Index& grid = shape.grid;
  const Index& block = shape.block;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || block.x == 0 || block.y == 0 || block.z == 0)
    return "a grid or a block without threads";
  if (grid.x > 0x7fffffffU || grid.y > 65535 || grid.z > 65535)
    return "a grid of more than 2147483647 x 65535 x 65535 blocks";
  if (block.x > 1024 || block.y > 1024 || block.z > 64 || std::uint64_t{block.x} * block.y * block.z > 1024)
    return "a block of more than 1024 x 1024 x 64 or of more than 1024 threads";
  return "";
}

void run_grid(const std::string& kernel, const LaunchShape& shape, const std::function<void()>& body) {
  if (const std::string refusal = refusal_of(shape); !refusal.empty()) throw KernelError(kernel + ": " + refusal);
  const std::uint64_t count = std::uint64_t{shape.grid.x} * shape.grid.y * shape.grid.z;
#if defined(FERRULE_EMULATION_TSAN)
  const unsigned least = 4;  // blocks of one OS thread are ordered, and races among them are not found
#else
  const unsigned least = 1;
#endif
  const unsigned wanted = std::max(least, std::thread::hardware_concurrency());
  std::atomic<std::uint64_t> next{0};
  std::mutex mutex;
  std::uint64_t first_failed = std::numeric_limits<std::uint64_t>::max();
  std::exception_ptr error;

  const auto run = [&] {
    thread_local StackPool stacks;  // later launches of this OS thread use them again
    Block block(kernel, shape, stacks, body);
    for (std::uint64_t number = next++; number < count; number = next++) {
      const auto index = [&](std::uint64_t rank) {
        return Index{static_cast<unsigned>(rank % shape.grid.x),
                     static_cast<unsigned>(rank / shape.grid.x % shape.grid.y),
                     static_cast<unsigned>(rank / shape.grid.x / shape.grid.y)};
      };
      try {
        block.run(index(shape.order == Order::reverse ? count - 1 - number : number));
      } catch (...) {
        const std::scoped_lock lock(mutex);
        if (number < first_failed) {
          first_failed = number;
          error = std::current_exception();
        }
        next = count;
      }
    }
  };

  const auto helpers = static_cast<unsigned>(std::min<std::uint64_t>(wanted, count)) - 1;
  std::vector<std::jthread> threads;
  threads.reserve(helpers);
  for (unsigned i = 0; i < helpers; ++i) threads.emplace_back(run);
  run();
  threads.clear();  // joins
  if (error) std::rethrow_exception(error);
}

}  // namespace emulation
