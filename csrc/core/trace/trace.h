// What happens when, on the host's threads and on the queues of devices. While nobody traces, each place that would
// record something costs one relaxed load.
#pragma once

#include <ferrule/ferrule.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ferrule {

// What an event is about. Events of the same work share one.
struct TraceLabel {
  std::string name;    // an op, a pass, ...
  std::string detail;  // dtypes and shapes
  std::string kernel;  // as the module names it
  std::string device;
  uint64_t bytes_read = 0, bytes_written = 0;
};
using TraceLabelPointer = std::shared_ptr<const TraceLabel>;

// A segment and its nodes.
struct SegmentLabels {
  TraceLabel whole;
  std::vector<TraceLabel> nodes;
};
using SegmentLabelsPointer = std::shared_ptr<const SegmentLabels>;

struct TraceEvent {
  fe_trace_kind kind = FE_TRACE_RECORD;
  int32_t queue = -1;                 // fe_queue_kind of the device's queue; -1: a thread of the host's
  uint64_t thread = 0;                // the system's number of it
  uint64_t begin_ns = 0, end_ns = 0;  // of the host's monotonic clock
  TraceLabelPointer label;
};

class TracedWork;
using TracedWorkPointer = std::shared_ptr<TracedWork>;

// Whether somebody traces. Read through is_tracing(), set by the sessions.
inline constinit std::atomic<bool> trace_flag{false};
inline bool is_tracing() noexcept { return trace_flag.load(std::memory_order_relaxed); }

uint64_t monotonic_ns() noexcept;
// The system's number of the calling thread.
uint64_t thread_number() noexcept;
// To all sessions. An event for which there is no memory is counted as dropped.
void add_to_traces(const TraceEvent& event) noexcept;
// In the order in which a queue was given its work.
void add_to_traces(const TracedWorkPointer& work) noexcept;

// From one begin to its end. Any number at once; each has all events that begin within it.
class TraceSession {
 public:
  struct Result {
    std::vector<TraceEvent> events;
    uint64_t dropped = 0;  // for which there was no room, and work that was not known to be over
    uint64_t begin_ns = 0, end_ns = 0;
  };
  // Of at most so many events.
  static std::shared_ptr<TraceSession> begin(std::size_t max_events);
  // Once. Work that is not over is dropped.
  Result end();
  // What end() does first: no event comes any more.
  void stop() noexcept;

 private:
  friend struct TraceSessions;
  struct Content;
  explicit TraceSession(std::size_t max_events);

 public:
  ~TraceSession();
  TraceSession(const TraceSession&) = delete;
  TraceSession& operator=(const TraceSession&) = delete;

 private:
  const std::unique_ptr<Content> content_;
};

// What the calling thread does as long as it exists.
class TraceSpan {
 public:
  TraceSpan(fe_trace_kind kind, const char* name) noexcept {
    if (is_tracing()) [[unlikely]]
      begin(kind, name);
  }
  // Nothing without a label.
  TraceSpan(fe_trace_kind kind, TraceLabelPointer label) noexcept : kind_(kind), label_(std::move(label)) {
    if (label_) begin_ns_ = monotonic_ns();
  }
  TraceSpan(const TraceSpan&) = delete;
  TraceSpan& operator=(const TraceSpan&) = delete;
  ~TraceSpan() {
    if (label_) [[unlikely]]
      end();
  }
  // Calls the function with the label while somebody traces. What it throws is ignored.
  template <class Function>
  void describe(const Function& function) noexcept {
    if (!own_label_) return;
    try {
      function(*own_label_);
    } catch (...) {  // no memory for the words
    }
  }

 private:
  void begin(fe_trace_kind kind, const char* name) noexcept;
  void end() noexcept;

  fe_trace_kind kind_ = FE_TRACE_RECORD;
  uint64_t begin_ns_ = 0;
  TraceLabelPointer label_;
  TraceLabel* own_label_ = nullptr;  // label_, if this span made it
};

// The fe_execution.trace of a device without queues, whose nodes are computed before the call returns.
class TracedCall {
 public:
  explicit TracedCall(const SegmentLabelsPointer& labels) : labels_(labels) {}
  static void tell(void* call, uint32_t node, uint64_t begin_ns, uint64_t end_ns) noexcept;

 private:
  const SegmentLabelsPointer& labels_;
};

}  // namespace ferrule
