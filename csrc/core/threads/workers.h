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
  // `spin`: idle threads, and a caller that waits for the last of them, look around for some microseconds before they
  // sleep. Pays when every thread has a CPU of its own, and costs when not.
  Workers(uint32_t count, bool spin);
  ~Workers();  // joins
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  uint32_t count() const noexcept { return static_cast<uint32_t>(threads_.size()); }
  // Runs the job with at most `helpers` of the threads; the calling thread works too. One caller at a time.
  void run(Job& job, uint32_t helpers) noexcept;

 private:
  void serve() noexcept;
  uint32_t next_call(uint32_t last) noexcept;
  bool enter() noexcept;
  void leave() noexcept;

  // The gate lets threads into the job while the caller works on it. A thread that wakes too late finds it shut and
  // nobody waits for it. The high bit says open; the rest counts those inside.
  static constexpr uint32_t open = 1u << 31;

  const bool spin_;
  alignas(64) std::atomic<uint32_t> calls_{0};  // grows with each job; threads sleep on it
  alignas(64) std::atomic<uint32_t> gate_{0};
  Job* job_ = nullptr;  // read by those inside only
  std::atomic<bool> end_{false};
  std::vector<std::thread> threads_;
};

}  // namespace ferrule
