// What a queue has given to the device.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "buffers/allocation_set.h"
#include "queues/timestamps.h"

namespace ferrule::vulkan {

// The work between two events of a queue. The second event tells its error, and when it was passed.
struct EventSpan {
  uint64_t number = 0;                     // of the span in its queue
  uint64_t end = 0;                        // the number of the last work before the second event; set with that
  std::optional<sdk::Error> error = {};    // the first one, unless the device was lost; guarded by the timeline, as:
  uint64_t host_ns = 0;                    // when the host last did a part of the work, or recorded the event first
  bool is_of_device = false;               // the device passes the second event, and not the host
  std::optional<uint64_t> timestamp = {};  // when that was, as the device counts; nothing when it does not tell
};

// A semaphore that counts up. Whoever holds one also holds the device.
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

// A point of another queue that a submission waits for on the device.
struct Awaited {
  std::shared_ptr<Semaphore> semaphore;
  uint64_t value;
};

struct Submission {
  uint64_t value;  // its number in the queue, which the queue's semaphore passes
  AllocationSet touched;
  VkCommandBuffer commands;
  std::shared_ptr<void> keep_alive;
  std::function<void()> after;
  std::shared_ptr<EventSpan> span;
  std::vector<Awaited> awaited;  // keeps the semaphores until it is done
  Timestamp timestamp;           // when it is done
};

}  // namespace ferrule::vulkan
