// A fixed set of threads that help with one job at a time.
#pragma once

#include "core/threads/job.h"

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace ferrule {

class Workers {
 public:
  // `spin`: idle threads, and the caller waiting for the last of them, spin for some microseconds before they sleep.
  // This is faster when every thread has its own CPU, and slower otherwise.
  Workers(uint32_t count, bool spin);
  ~Workers();  // joins the threads
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  uint32_t count() const noexcept { return static_cast<uint32_t>(threads_.size()); }
  // Runs the job with at most `helpers` of the threads, while `work` does the calling thread's part. One caller at a
  // time.
  template <class Work>
  void run(Job& job, uint32_t helpers, Work work) noexcept {
    begin(job, helpers);
    work();
    end();
  }

 private:
  void begin(Job& job, uint32_t helpers) noexcept;
  void end() noexcept;
  void serve() noexcept;
  uint32_t next_call(uint32_t last) noexcept;
  bool enter() noexcept;
  void leave() noexcept;

  // The gate admits threads to the job while the caller works on it. A thread that wakes too late finds it closed, and
  // the caller does not wait for it. The high bit means open; the other bits count the threads inside.
  static constexpr uint32_t open = 1u << 31;

  const bool spin_;
  alignas(64) std::atomic<uint32_t> calls_{0};  // increased with each job; threads wait on it
  alignas(64) std::atomic<uint32_t> gate_{0};
  Job* job_ = nullptr;  // read only by threads inside the gate
  std::atomic<bool> end_{false};
  std::vector<std::thread> threads_;
};

}  // namespace ferrule
