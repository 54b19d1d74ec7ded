// The work that a queue has submitted to the device.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "buffers/allocation_set.h"
#include "commands/timestamps.h"

namespace ferrule::vulkan {

// The work between two events of a queue. The second event reports its error, and when it was passed.
struct EventSpan {
  uint64_t number = 0;                     // in its queue
  uint64_t end = 0;                        // the number of the last work before the second event; set by that event
  std::optional<sdk::Error> error = {};    // the first, unless the device was lost; the timeline guards this and:
  uint64_t host_ns = 0;                    // when the host last did part of the work, or first recorded the event
  bool is_of_device = false;               // the device, not the host, passes the second event
  std::optional<uint64_t> timestamp = {};  // when it did, in the device's ticks; empty if the device does not report it
};

// A timeline semaphore; it keeps the device alive.
class Semaphore {
 public:
  explicit Semaphore(const Context& context);
  Semaphore(const Semaphore&) = delete;
  Semaphore& operator=(const Semaphore&) = delete;
  ~Semaphore();
  VkSemaphore handle() const { return handle_; }

 private:
  const Context& context_;
  VkSemaphore handle_ = VK_NULL_HANDLE;
};

// A point in another queue that a submission waits for on the device.
struct Awaited {
  std::shared_ptr<Semaphore> semaphore;
  uint64_t value;
};

struct Submission {
  uint64_t value;  // the number in the queue, and the value that the queue's semaphore reaches
  AllocationSet touched;
  VkCommandBuffer commands;
  std::shared_ptr<void> keep_alive;
  std::function<void()> after;
  std::shared_ptr<EventSpan> span;
  std::vector<Awaited> awaited;  // keeps the semaphores alive until it is done
  Timestamp timestamp;           // when it is done
};

}  // namespace ferrule::vulkan
