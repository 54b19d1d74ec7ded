// A point in a queue.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "device/open_device.h"
#include "parameters/common.h"

namespace ferrule::cuda {

// A CUDA event of a device, which must be the calling thread's current one when it is made.
class Mark {
 public:
  Mark(OpenDevice& device, bool is_timed);
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;
  Mark(Mark&& other) noexcept : device_(other.device_), event_(std::exchange(other.event_, nullptr)) {}
  Mark& operator=(Mark&&) = delete;
  ~Mark();
  cudaEvent_t get() const { return event_; }

 private:
  int device_;
  cudaEvent_t event_ = nullptr;
};

// The nodes of a traced execution. Mark i is where node i begins; the last one is where the last node ends.
struct TracedNodes {
  std::vector<Mark> marks;
  std::vector<uint32_t> nodes;
  std::shared_ptr<const TimedEvent> since;
  uint64_t earliest_ns;  // the host's time before the first mark was recorded
  fe_trace_function trace;
  void* argument;
};

// Faults and times to read when the work before an event is done.
struct Aftermath {
  std::shared_ptr<const Fault> fault;  // null if no kernel reports faults
  std::vector<TracedNodes> traced;
};

class Event final : public sdk::Event {
 public:
  // Makes what `record` needs. The device must be the calling thread's current one.
  explicit Event(std::shared_ptr<OpenDevice> device);
  // Makes the event of a device that is already lost.
  Event(std::shared_ptr<OpenDevice> device, std::shared_ptr<const sdk::Error> loss)
      : device_(std::move(device)), loss_(std::move(loss)) {}

  bool done() override;
  void wait(int64_t timeout_ns) override;
  uint64_t time() override;
  // Call once. If the device is lost, the event completes with that error.
  void record(cudaStream_t stream, Aftermath aftermath);
  cudaError_t let_wait(cudaStream_t stream) const;
  std::shared_ptr<const sdk::Error> loss() const { return loss_; }
  std::shared_ptr<const Mark> mark() const { return mark_; }

 private:
  cudaError_t query() const;
  void tell_times() noexcept;

  std::shared_ptr<OpenDevice> device_;
  std::shared_ptr<const sdk::Error> loss_;
  std::shared_ptr<const Mark> mark_;         // null if the device was lost
  std::shared_ptr<const TimedEvent> since_;  // null if its time is not known
  uint64_t earliest_ns_ = 0;                 // the host's time before it was recorded
  std::mutex mutex_;
  Aftermath aftermath_;
};

}  // namespace ferrule::cuda
