// Times at which the device passes events, on the host's clock.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "device/errors.h"

namespace ferrule::cuda {

// An event whose time on the host's monotonic clock is known.
struct TimedEvent {
  explicit TimedEvent(int on) : device(on) {}
  TimedEvent(const TimedEvent&) = delete;
  TimedEvent& operator=(const TimedEvent&) = delete;
  ~TimedEvent();
  // Returns the times at which the device passed these events, on the host's clock. The events are done, have timing,
  // and were recorded in this order: after `earliest`, and at most a few seconds before or after this event. The times
  // are right to within a few microseconds, unless the system kept the thread waiting while the clocks were compared.
  // Impossible times, before `earliest` or in the future, are shifted all together, so that the durations between them
  // stay.
  std::vector<uint64_t> host_ns_of(std::span<const cudaEvent_t> events, uint64_t earliest) const;

  const int device;
  cudaEvent_t event = nullptr;
  uint64_t host_ns = 0;
};

// Thread-safe.
class Clock {
 public:
  // A timed event of about now. CUDA tells the time between two events as a float, which is exact for close events
  // only, so there is a new one each second. Waits for the stream, which is of the current device, `device`.
  std::shared_ptr<const TimedEvent> now(int device, cudaStream_t stream);

 private:
  std::mutex mutex_;
  std::shared_ptr<const TimedEvent> last_;
};

}  // namespace ferrule::cuda
