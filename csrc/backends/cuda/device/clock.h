// When the device passed an event, on the host's clock.
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
  // Of events with timing that are done, in the order in which the device passed them, recorded at most a few seconds
  // from this one. The first was recorded after `earliest`. The two clocks are compared to within a few microseconds,
  // or, if the system kept the thread waiting meanwhile, within that time: results that would be before `earliest` or
  // in the future are moved together, so that the times between them stay.
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
