// What a queue has given to the device.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "span.h"
#include "timestamps.h"
#include "touched.h"

namespace ferrule::vulkan {

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
  Touched touched;
  VkCommandBuffer commands;
  std::shared_ptr<void> keep_alive;
  std::function<void()> after;
  std::shared_ptr<Span> span;
  std::vector<Awaited> awaited;  // keeps the semaphores until it is done
  Timestamp timestamp;           // when it is done
};

}  // namespace ferrule::vulkan
