// Records when a queue executed a piece of work and its nodes.
#pragma once

#include "core/sync/mutexes.h"
#include "core/trace/trace_event.h"

#include <memory>
#include <optional>
#include <vector>

namespace ferrule {

class TracedWork;
using TracedWorkPointer = std::shared_ptr<TracedWork>;

// Made before the work is submitted to the queue, and kept until it is over: modules report nodes late. Thread-safe.
class TracedWork {
 public:
  struct Times {
    uint64_t begin_ns = 0, end_ns = 0;
    bool is_known() const { return end_ns != 0; }
  };

  // Both return null when nothing is traced (no labels, or no active trace) and when out of memory.
  static TracedWorkPointer of_segment(uint64_t device, SegmentLabelsPointer labels) noexcept;
  static TracedWorkPointer of_transfer(uint64_t device, TraceLabel label) noexcept;
  TracedWork(fe_trace_kind kind, uint64_t device, SegmentLabelsPointer labels);

  // Records that the work is submitted now. It begins after the work with the numbers in `after`.
  void submit(fe_queue_kind queue, std::vector<uint64_t> after);
  // The function of fe_execution.trace: records the times of a node.
  static void record_node_time(void* work, uint32_t node, uint64_t begin_ns, uint64_t end_ns) noexcept;
  // Records that the work is over. `end_ns` is the time that the device reports, if any; one that is impossible by the
  // host's clock is replaced by the current time. Only the first call counts.
  void finish(std::optional<uint64_t> end_ns) noexcept;

  uint64_t number() const { return number_; }
  uint64_t device() const { return device_; }
  fe_queue_kind queue() const { return queue_; }
  fe_trace_kind kind() const { return kind_; }
  uint64_t submitted_ns() const { return submitted_ns_; }
  const std::vector<uint64_t>& after() const { return after_; }
  const SegmentLabelsPointer& labels() const { return labels_; }
  std::size_t event_count() const { return 1 + labels_->nodes.size(); }
  // 0 while it is not known to be over.
  uint64_t end_ns() const;
  // The times of each node; is_known() is false for those that were not reported.
  std::vector<Times> nodes() const;

 private:
  const fe_trace_kind kind_;
  const uint64_t number_, device_;
  const SegmentLabelsPointer labels_;
  // Set before other threads have access to the object.
  fe_queue_kind queue_ = FE_QUEUE_COMPUTE;
  uint64_t submitted_ns_ = 0;
  std::vector<uint64_t> after_;

  mutable BriefMutex mutex_;  // guards the members below
  uint64_t end_ns_ = 0;
  std::vector<Times> nodes_;
};

// The events of work, given in the order of submission. A queue executes its work in sequence: when the device reports
// no times, a piece of work lies between its submission and the time when it was known to be over. The number of events
// of work that is not over is added to `dropped`.
std::vector<TraceEvent> events_of(const std::vector<TracedWorkPointer>& work, uint64_t& dropped);

}  // namespace ferrule
