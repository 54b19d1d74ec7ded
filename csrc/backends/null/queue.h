// A queue without a thread: work is done when its time has come, and whoever waits sleeps until then.
#pragma once

#include <ferrule/backend.hpp>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

namespace ferrule::null {

using Clock = std::chrono::steady_clock;

// What an open device was asked to get wrong. Numbers count from 1; 0 is never.
struct Faults {
  explicit Faults(const sdk::Options& options)
      : out_of_memory_at(options.integer("out_of_memory_at", 0)),
        device_lost_at(options.integer("device_lost_at", 0)),
        execution_fails_at(options.integer("execution_fails_at", 0)),
        duration(options.integer("slow_ms", 0)) {}
  static std::vector<sdk::OptionDescription> options() {
    return {{"out_of_memory_at", "integer", "the n-th allocation fails"},
            {"device_lost_at", "integer", "the n-th execution loses the device; its event tells"},
            {"execution_fails_at", "integer",
             "the n-th execution fails; its event tells, and so do later ones until a reset"},
            {"slow_ms", "integer", "every execution takes this long"}};
  }

  const int64_t out_of_memory_at;
  const int64_t device_lost_at;
  const int64_t execution_fails_at;
  const std::chrono::milliseconds duration;
  std::atomic<int64_t> allocations{0};
  std::atomic<int64_t> executions{0};
};

class TimedEvent final : public sdk::Event {
 public:
  TimedEvent(Clock::time_point ready, std::optional<sdk::Error> error) : ready_(ready), error_(std::move(error)) {}
  bool done() override { return Clock::now() >= ready_; }
  void wait(int64_t timeout_ns) override {
    const Clock::time_point now = Clock::now();
    if (timeout_ns >= 0 && ready_ > now && ready_ - now > std::chrono::nanoseconds(timeout_ns)) {
      std::this_thread::sleep_for(std::chrono::nanoseconds(timeout_ns));
      throw sdk::Error(FE_TIMEOUT, "null: the queue was still working");
    }
    std::this_thread::sleep_until(ready_);
    if (error_) throw *error_;
  }

 private:
  Clock::time_point ready_;
  std::optional<sdk::Error> error_;
};

class TimedQueue final : public sdk::Queue {
 public:
  void work(std::chrono::milliseconds duration) { ready_ = std::max(ready_, Clock::now()) + duration; }
  void poison(fe_code code, const std::string& message) { error_.emplace(code, message); }
  bool poisoned() const { return error_.has_value(); }
  std::unique_ptr<sdk::Event> record() override { return std::make_unique<TimedEvent>(ready_, error_); }
  void reset() override { error_.reset(); }

 private:
  Clock::time_point ready_{};
  std::optional<sdk::Error> error_;
};

}  // namespace ferrule::null
