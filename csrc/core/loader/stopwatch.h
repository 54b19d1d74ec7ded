// Measures how long a step takes.
#pragma once

#include <chrono>

namespace ferrule {

// Adds its lifetime, in ms, to the given total.
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
