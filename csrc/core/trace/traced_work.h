// When a queue did a piece of work, and its nodes.
#pragma once

#include "core/sync/mutexes.h"
#include "core/trace/trace.h"

#include <optional>
#include <vector>

namespace ferrule {

// Made before the queue is given the work, and kept until that is over: modules tell of nodes late. Any thread.
class TracedWork {
 public:
  struct Times {
    uint64_t begin_ns = 0, end_ns = 0;
    bool is_known() const { return end_ns != 0; }
  };

  // Null while nobody traces, and without memory.
  static TracedWorkPointer of_segment(uint64_t device, SegmentLabelsPointer labels) noexcept;
  static TracedWorkPointer of_transfer(uint64_t device, TraceLabel label) noexcept;
  TracedWork(fe_trace_kind kind, uint64_t device, SegmentLabelsPointer labels);

  // The queue is given the work now, which begins after the other work, by their numbers.
  void submit(fe_queue_kind queue, std::vector<uint64_t> after);
  // fe_execution.trace
  static void tell(void* work, uint32_t node, uint64_t begin_ns, uint64_t end_ns) noexcept;
  // It is over. `end_ns` is when, if its device tells; what cannot be true by the host's clock is not believed. The
  // first call counts.
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
  // Of each node; those that nobody told of are not known.
  std::vector<Times> nodes() const;

 private:
  const fe_trace_kind kind_;
  const uint64_t number_, device_;
  const SegmentLabelsPointer labels_;
  // Set before anybody else knows of it.
  fe_queue_kind queue_ = FE_QUEUE_COMPUTE;
  uint64_t submitted_ns_ = 0;
  std::vector<uint64_t> after_;

  mutable BriefMutex mutex_;  // of what follows
  uint64_t end_ns_ = 0;
  std::vector<Times> nodes_;
};

// The events of work that queues were given, in that order. A queue does one piece of work after the other: where its
// device does not tell when, each lies between its submission and the moment when it was known to be over. How many
// were not over is added to `dropped`.
std::vector<TraceEvent> events_of(const std::vector<TracedWorkPointer>& work, uint64_t& dropped);

}  // namespace ferrule
