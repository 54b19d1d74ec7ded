// How long a step took.
#pragma once

#include <chrono>

namespace ferrule {

// Adds the time of its life to a number of milliseconds.
class Stopwatch {
 public:
  explicit Stopwatch(double& milliseconds) : milliseconds_(milliseconds) {}
  ~Stopwatch() { milliseconds_ += std::chrono::duration<double, std::milli>(Clock::now() - begin_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  double& milliseconds_;
  const Clock::time_point begin_ = Clock::now();
};

}  // namespace ferrule
