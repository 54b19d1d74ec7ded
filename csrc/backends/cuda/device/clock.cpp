#include "device/clock.h"

#include <cmath>

namespace ferrule::cuda {

constexpr uint64_t longest_use = 1'000'000'000;  // nanoseconds

TimedEvent::~TimedEvent() {
  if (event != nullptr && cudaEventDestroy(event) != cudaSuccess) cudaGetLastError();
}

uint64_t TimedEvent::host_ns_of(cudaEvent_t other) const {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, event, other), "cudaEventElapsedTime");
  const double ns = static_cast<double>(host_ns) + 1e6 * static_cast<double>(milliseconds);
  return static_cast<uint64_t>(std::max(0.0, std::round(ns)));
}

std::shared_ptr<const TimedEvent> Clock::now(cudaStream_t stream) {
  const std::lock_guard lock(mutex_);
  if (last_ && sdk::monotonic_ns() - last_->host_ns < longest_use) return last_;
  const auto made = std::make_shared<TimedEvent>();
  check(cudaEventCreateWithFlags(&made->event, cudaEventDefault), "cudaEventCreateWithFlags");
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  check(cudaEventRecord(made->event, stream), "cudaEventRecord");
  check(cudaEventSynchronize(made->event), "cudaEventSynchronize");
  made->host_ns = sdk::monotonic_ns();
  return last_ = made;
}

}  // namespace ferrule::cuda
