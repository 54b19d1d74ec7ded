// Stacks of their own for GPU threads, and the switch between them and the scheduler. AddressSanitizer and
// ThreadSanitizer are told of each switch; for ThreadSanitizer a fiber is a thread of its own.
#pragma once

#include <boost/context/fiber.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace emulation {

// A stack that runs one piece of work after the other. Both sides of a switch belong to one OS thread: fibers do not
// move between OS threads.
class Fiber {
 public:
  Fiber();  // throws std::bad_alloc
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Runs `work`, which must not throw, until it suspends the fiber or returns. Called by the scheduler, on an idle
  // fiber; `work` must outlive the run.
  void start(const std::function<void()>& work);
  // Goes on until the work suspends the fiber again or returns. Called by the scheduler.
  void resume();
  // Returns to the scheduler. Called within the fiber.
  void suspend();

 private:
  void leave(bool for_ever);

  const boost::context::stack_context stack_;
  boost::context::fiber own_, scheduler_;
  const std::function<void()>* work_ = nullptr;
  bool ends_ = false;
  // Used only in builds with sanitizers.
  [[maybe_unused]] void* thread_ = nullptr;  // the fiber, for ThreadSanitizer
  [[maybe_unused]] void* scheduler_thread_ = nullptr;
  [[maybe_unused]] void* fake_stack_ = nullptr;  // of AddressSanitizer
  [[maybe_unused]] void* scheduler_fake_stack_ = nullptr;
  [[maybe_unused]] const void* scheduler_stack_ = nullptr;
  [[maybe_unused]] std::size_t scheduler_size_ = 0;
};

// The fibers of one OS thread, which are used again.
class FiberPool {
 public:
  // An idle fiber. Throws std::bad_alloc.
  Fiber& take();
  // All that were taken; they must be idle.
  void give_back_all() { taken_ = 0; }

 private:
  std::vector<std::unique_ptr<Fiber>> all_;
  std::size_t taken_ = 0;
};

}  // namespace emulation
