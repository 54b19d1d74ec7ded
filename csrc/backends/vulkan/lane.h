// What a queue has given to one engine, which does one thing after the other.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <vector>

#include "commands.h"
#include "span.h"
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
  uint64_t value;  // its number in the queue, which the lane's semaphore passes
  Touched touched;
  VkCommandBuffer commands;
  std::shared_ptr<void> keep_alive;
  std::function<void()> after;
  std::shared_ptr<Span> span;
  std::vector<Awaited> awaited;  // keeps the semaphores until it is done
};

struct Lane {
  Lane(const Context& context, Engine on)
      : engine(on), commands(context, on), semaphore(std::make_shared<Semaphore>(context)) {}
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;
  ~Lane() = default;
  size_t index() const { return static_cast<size_t>(engine); }
  // The number of the last work that touches this memory; 0 where none of it is left.
  uint64_t last_use(const Touched& touched) const;
  // The same, where work that waits for another queue counts as touching all memory.
  uint64_t last_use_or_wait(const Touched& touched) const;
  // The next submission waits for this, too.
  void await(const Awaited& other);

  const Engine engine;
  Commands commands;
  const std::shared_ptr<Semaphore> semaphore;
  uint64_t last = 0;
  uint64_t retired = 0;  // is known to be done, or was lost
  std::list<Submission> pending = {};
  std::vector<Awaited> awaited = {};  // by the next submission
};

}  // namespace ferrule::vulkan
