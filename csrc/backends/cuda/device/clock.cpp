#include "device/clock.h"

#include <algorithm>
#include <cmath>

#include "device/device_scope.h"

namespace ferrule::cuda {

constexpr uint64_t longest_use = 1'000'000'000;  // nanoseconds
constexpr uint64_t short_record = 20'000;        // nanoseconds
constexpr int most_records = 8;

TimedEvent::~TimedEvent() {
  const DeviceScope scope(device);
  if (event != nullptr && cudaEventDestroy(event) != cudaSuccess) cudaGetLastError();
}

std::vector<uint64_t> TimedEvent::host_ns_of(std::span<const cudaEvent_t> events, uint64_t earliest) const {
  std::vector<int64_t> times;
  for (const cudaEvent_t other : events) {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, event, other), "cudaEventElapsedTime");
    times.push_back(static_cast<int64_t>(host_ns) + std::llround(1e6 * static_cast<double>(milliseconds)));
  }
  const auto now = static_cast<int64_t>(sdk::monotonic_ns());
  const int64_t first = std::min(static_cast<int64_t>(earliest), now);
  int64_t shift = 0;
  if (times.front() < first)
    shift = first - times.front();
  else if (times.back() > now)
    shift = std::max(now - times.back(), first - times.front());
  std::vector<uint64_t> result;
  int64_t previous = first;
  for (const int64_t time : times) {
    previous = std::clamp(time + shift, previous, now);
    result.push_back(static_cast<uint64_t>(previous));
  }
  return result;
}

std::shared_ptr<const TimedEvent> Clock::now(int device, cudaStream_t stream) {
  const std::lock_guard lock(mutex_);
  if (last_ && sdk::monotonic_ns() - last_->host_ns < longest_use) return last_;
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  // The time of an event is taken as the middle of its recording. The event whose recording was shortest is used.
  std::shared_ptr<TimedEvent> best;
  uint64_t shortest = 0;
  for (int i = 0; i < most_records && (!best || shortest > short_record); ++i) {
    const auto made = std::make_shared<TimedEvent>(device);
    check(cudaEventCreateWithFlags(&made->event, cudaEventDefault), "cudaEventCreateWithFlags");
    const uint64_t before = sdk::monotonic_ns();
    check(cudaEventRecord(made->event, stream), "cudaEventRecord");
    check(cudaEventSynchronize(made->event), "cudaEventSynchronize");
    const uint64_t taken = sdk::monotonic_ns() - before;
    made->host_ns = before + taken / 2;
    if (best && taken >= shortest) continue;
    best = made;
    shortest = taken;
  }
  return last_ = best;
}

}  // namespace ferrule::cuda
