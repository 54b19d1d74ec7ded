// A stack of its own for one GPU thread, and the switch between it and the scheduler. AddressSanitizer and
// ThreadSanitizer are told of each switch; for ThreadSanitizer a fiber is a thread of its own.
#pragma once

#include <boost/context/fiber.hpp>
#include <cstddef>
#include <functional>
#include <vector>

namespace emulation {

// Stacks of one OS thread, which are used again. A page below each cannot be accessed, so an overflow ends the process.
class StackPool {
 public:
  StackPool() = default;
  ~StackPool();
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;
  boost::context::stack_context take();
  void give_back(const boost::context::stack_context& stack) noexcept;

 private:
  std::vector<boost::context::stack_context> free_;
};

// Both sides of a switch belong to one OS thread: fibers do not move between OS threads.
class Fiber {
 public:
  Fiber() = default;
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Prepares `work`, which must not throw, to run on a stack of `pool` at the first resume().
  void prepare(StackPool& pool, std::function<void()> work);
  // Runs the fiber until it suspends itself or ends. Called by the scheduler.
  void resume();
  // Returns to the scheduler. Called within the fiber.
  void suspend();
  bool ended() const { return ended_; }

 private:
  struct Stack;
  void leave(bool for_ever);

  StackPool* pool_ = nullptr;
  boost::context::fiber own_, scheduler_;
  boost::context::stack_context stack_;
  bool ended_ = true;
  // Used only in builds with sanitizers.
  [[maybe_unused]] void* thread_ = nullptr;  // the fiber, for ThreadSanitizer
  [[maybe_unused]] void* scheduler_thread_ = nullptr;
  [[maybe_unused]] void* fake_stack_ = nullptr;  // of AddressSanitizer
  [[maybe_unused]] void* scheduler_fake_stack_ = nullptr;
  [[maybe_unused]] const void* scheduler_stack_ = nullptr;
  [[maybe_unused]] std::size_t scheduler_size_ = 0;
};

}  // namespace emulation
