// The faults that an open null device injects.
#pragma once

#include <ferrule/backend.hpp>

#include <atomic>
#include <string>

namespace ferrule::null {

// Calls of one kind, of which the n-th fails, counted from 1; 0: none fails.
class FailingCall {
 public:
  FailingCall(const char* what, int64_t at) : what_(what), at_(at) {}
  int64_t at() const { return at_; }
  // Counts a call; returns whether it is the one that fails.
  bool is_due() { return ++count_ == at_; }
  sdk::Error error(fe_code code = FE_INTERNAL) const {
    return {code, std::string("null: ") + what_ + " " + std::to_string(at_) + " failed, as requested"};
  }
  void fail_when_due() {
    if (is_due()) throw error();
  }

 private:
  const char* const what_;
  const int64_t at_;
  std::atomic<int64_t> count_{0};
};

struct Faults {
  explicit Faults(const sdk::Options& options)
      : allocations("allocation", options.integer("out_of_memory_at", 0)),
        losses("execution", options.integer("device_lost_at", 0)),
        executions("execution", options.integer("execution_fails_at", 0)),
        copies("copy", options.integer("copy_fails_at", 0)),
        given("piece of work", options.integer("submit_fails_at", 0)),
        records("record", options.integer("record_fails_at", 0)),
        waits("wait", options.integer("wait_fails_at", 0)),
        resets("reset", options.integer("reset_fails_at", 0)) {}
  static std::vector<sdk::OptionDescription> options() {
    return {{"out_of_memory_at", "integer", "the n-th allocation fails"},
            {"device_lost_at", "integer", "the n-th execution loses the device; its event reports it"},
            {"execution_fails_at", "integer", "the n-th execution fails; its event reports it"},
            {"copy_fails_at", "integer", "the n-th copy or fill fails; its event reports it"},
            {"submit_fails_at", "integer", "the n-th execution, copy or fill is refused when it is given to a queue"},
            {"record_fails_at", "integer", "the n-th event cannot be recorded; the work goes on"},
            {"wait_fails_at", "integer", "the n-th wait fails at once; the work goes on"},
            {"reset_fails_at", "integer", "the n-th reset of a queue fails at once; the work goes on"}};
  }

  FailingCall allocations, losses, executions, copies, given, records, waits, resets;
};

}  // namespace ferrule::null
