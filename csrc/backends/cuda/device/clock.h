// When the device passed an event, on the host's clock.
#pragma once

#include <memory>
#include <mutex>

#include "device/errors.h"

namespace ferrule::cuda {

// An event whose time on the host's monotonic clock is known.
struct TimedEvent {
  explicit TimedEvent(int on) : device(on) {}
  TimedEvent(const TimedEvent&) = delete;
  TimedEvent& operator=(const TimedEvent&) = delete;
  ~TimedEvent();
  // Of an event with timing that is done, recorded at most a few seconds from this one. The two clocks are compared to
  // within a few microseconds; the result is not before `earliest`, nor in the future.
  uint64_t host_ns_of(cudaEvent_t event, uint64_t earliest) const;

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
