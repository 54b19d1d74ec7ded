// What an open null device was asked to get wrong.
#pragma once

#include <ferrule/backend.hpp>

#include <atomic>
#include <chrono>
#include <string>

namespace ferrule::null {

// Calls of one kind, of which the n-th fails; numbers count from 1, and 0 is never.
class FailingCall {
 public:
  explicit FailingCall(int64_t at) : at_(at) {}
  void fail_when_due(const std::string& what) {
    if (const int64_t number = ++count_; number == at_)
      throw sdk::Error(FE_INTERNAL, "null: " + what + " " + std::to_string(number) + " failed, as it was asked to");
  }

 private:
  const int64_t at_;
  std::atomic<int64_t> count_{0};
};

struct Faults {
  explicit Faults(const sdk::Options& options)
      : out_of_memory_at(options.integer("out_of_memory_at", 0)),
        device_lost_at(options.integer("device_lost_at", 0)),
        execution_fails_at(options.integer("execution_fails_at", 0)),
        duration(options.integer("slow_ms", 0)),
        records(options.integer("record_fails_at", 0)),
        waits(options.integer("wait_fails_at", 0)),
        resets(options.integer("reset_fails_at", 0)) {}
  static std::vector<sdk::OptionDescription> options() {
    return {{"out_of_memory_at", "integer", "the n-th allocation fails"},
            {"device_lost_at", "integer", "the n-th execution loses the device; its event tells"},
            {"execution_fails_at", "integer",
             "the n-th execution fails; its event tells, and so do later ones until a reset"},
            {"record_fails_at", "integer", "the n-th event cannot be recorded; the work goes on"},
            {"wait_fails_at", "integer", "the n-th wait fails at once; the work goes on"},
            {"reset_fails_at", "integer", "the n-th reset of a queue fails at once; the work goes on"},
            {"slow_ms", "integer", "every execution takes this long, and writes its outputs at its end"}};
  }

  const int64_t out_of_memory_at;
  const int64_t device_lost_at;
  const int64_t execution_fails_at;
  const std::chrono::milliseconds duration;
  FailingCall records, waits, resets;
  std::atomic<int64_t> allocations{0};
  std::atomic<int64_t> executions{0};
};

}  // namespace ferrule::null
