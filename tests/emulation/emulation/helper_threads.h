// OS threads that help one other OS thread to run grids. They wait between launches.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace emulation {

class HelperThreads {
 public:
  // Time that a launch runs alone before it calls helpers. ThreadSanitizer finds races between blocks only if the
  // blocks run on different OS threads.
#if defined(FERRULE_EMULATION_TSAN)
  static constexpr std::chrono::microseconds patience{0};
#else
  static constexpr std::chrono::microseconds patience{20};
#endif

  HelperThreads() = default;
  ~HelperThreads();
  HelperThreads(const HelperThreads&) = delete;
  HelperThreads& operator=(const HelperThreads&) = delete;

  static unsigned most();
  // Starts `work` on this many helpers; it must outlive the next wait().
  void call(unsigned count, const std::function<void()>& work);
  // Waits until the helpers are done. Those that have not begun do not begin any more.
  void wait();

 private:
  void run();
  std::mutex mutex_;
  std::condition_variable called_, changed_;
  const std::function<void()>* work_ = nullptr;
  unsigned to_begin_ = 0, running_ = 0;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace emulation
