#include "device/clock.h"

#include <algorithm>
#include <cmath>

#include "device/device_scope.h"

namespace ferrule::cuda {

constexpr uint64_t longest_use = 1'000'000'000;  // nanoseconds

TimedEvent::~TimedEvent() {
  const DeviceScope scope(device);
  if (event != nullptr && cudaEventDestroy(event) != cudaSuccess) cudaGetLastError();
}

uint64_t TimedEvent::host_ns_of(cudaEvent_t other, uint64_t earliest) const {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, event, other), "cudaEventElapsedTime");
  const double ns = static_cast<double>(host_ns) + 1e6 * static_cast<double>(milliseconds);
  const uint64_t now = sdk::monotonic_ns();
  return std::clamp(static_cast<uint64_t>(std::max(0.0, std::round(ns))), std::min(earliest, now), now);
}

std::shared_ptr<const TimedEvent> Clock::now(int device, cudaStream_t stream) {
  const std::lock_guard lock(mutex_);
  if (last_ && sdk::monotonic_ns() - last_->host_ns < longest_use) return last_;
  const auto made = std::make_shared<TimedEvent>(device);
  check(cudaEventCreateWithFlags(&made->event, cudaEventDefault), "cudaEventCreateWithFlags");
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  const uint64_t before = sdk::monotonic_ns();
  check(cudaEventRecord(made->event, stream), "cudaEventRecord");
  check(cudaEventSynchronize(made->event), "cudaEventSynchronize");
  made->host_ns = before + (sdk::monotonic_ns() - before) / 2;
  return last_ = made;
}

}  // namespace ferrule::cuda
