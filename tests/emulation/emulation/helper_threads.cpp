#include "emulation/helper_threads.h"

#include <algorithm>

namespace emulation {

unsigned HelperThreads::most() {
  static const unsigned cores = std::clamp(std::thread::hardware_concurrency(), 1U, 8U);  // a system call
#if defined(FERRULE_EMULATION_TSAN)
  return std::max(cores, 4U) - 1;
#else
  return cores - 1;
#endif
}

HelperThreads::~HelperThreads() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  called_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void HelperThreads::call(unsigned count, const std::function<void()>& work) {
  std::unique_lock lock(mutex_);
  while (threads_.size() < count) threads_.emplace_back([this] { run(); });
  work_ = &work;
  to_begin_ = count;
  called_.notify_all();
#if defined(FERRULE_EMULATION_TSAN)
  // The mutex must not order the end of one helper before the begin of another: all begin first.
  changed_.wait(lock, [&] { return to_begin_ == 0; });
#endif
}

void HelperThreads::wait() {
  std::unique_lock lock(mutex_);
  to_begin_ = 0;
  changed_.wait(lock, [&] { return running_ == 0; });
}

void HelperThreads::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    called_.wait(lock, [&] { return ending_ || to_begin_ > 0; });
    if (ending_) return;
    --to_begin_;
    ++running_;
#if defined(FERRULE_EMULATION_TSAN)
    changed_.notify_all();
    changed_.wait(lock, [&] { return to_begin_ == 0; });
#endif
    lock.unlock();
    (*work_)();
    lock.lock();
    --running_;
    changed_.notify_all();
  }
}

}  // namespace emulation
