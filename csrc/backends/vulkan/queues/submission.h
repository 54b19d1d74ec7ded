// The submissions of a queue to its device, and the semaphores for which other queues wait.
#pragma once

#include <ferrule/cpp/timeline.hpp>

#include <functional>
#include <memory>
#include <optional>

#include "buffers/allocation_set.h"
#include "commands/command_buffers.h"
#include "commands/timestamps.h"

namespace ferrule::vulkan {

// A timeline semaphore; it keeps the device alive.
class Semaphore {
 public:
  explicit Semaphore(std::shared_ptr<const Context> context);
  Semaphore(const Semaphore&) = delete;
  Semaphore& operator=(const Semaphore&) = delete;
  ~Semaphore();
  VkSemaphore handle() const { return handle_; }

 private:
  const std::shared_ptr<const Context> context_;
  VkSemaphore handle_ = VK_NULL_HANDLE;
};

// See sdk::Timeline.
struct Submissions {
  using Touched = AllocationSet;
  struct Work {
    VkCommandBuffer commands = VK_NULL_HANDLE;
    Timestamp timestamp = {};  // when it is done
  };
  using Encode = Commands::Record;
  using After = std::function<void()>;
  using Signal = Semaphore;
  using Time = std::optional<uint64_t>;  // in the device's ticks; empty if the device does not report it
};
using EventSpan = sdk::EventSpan<Submissions::Time>;

}  // namespace ferrule::vulkan
