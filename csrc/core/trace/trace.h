// Records when things happen on the host's threads and on the queues of devices. While no trace is active, each place
// that would record an event costs one relaxed load.
#pragma once

#include "core/trace/trace_event.h"

#include <ferrule/ferrule.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace ferrule {

class TracedWork;
using TracedWorkPointer = std::shared_ptr<TracedWork>;

// Adds an event to all sessions. Without memory for it, it is counted as dropped.
void add_to_traces(const TraceEvent& event) noexcept;
// Adds work to all sessions. Call it in the order in which the work is submitted to a queue.
void add_to_traces(const TracedWorkPointer& work) noexcept;

// A trace from begin() to end(). Any number can be active at once; each has all events that begin during it.
class TraceSession {
 public:
  struct Result {
    std::vector<TraceEvent> events;
    uint64_t dropped = 0;  // events beyond the limit or without memory, and events of work not known to be over
    uint64_t begin_ns = 0, end_ns = 0;
  };
  // Starts a session that keeps at most `max_events` events.
  static std::shared_ptr<TraceSession> begin(std::size_t max_events);
  // Ends the session; call it once. Work that is not over is dropped.
  Result end();
  // Stops adding events. end() calls it first.
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

// Records an event of the calling thread for its lifetime.
class TraceSpan {
 public:
  TraceSpan(fe_trace_kind kind, const char* name) noexcept {
    if (is_tracing()) [[unlikely]]
      begin(kind, name);
  }
  // Records nothing when the label is null.
  TraceSpan(fe_trace_kind kind, TraceLabelPointer label) noexcept : kind_(kind), label_(std::move(label)) {
    if (label_) begin_ns_ = monotonic_ns();
  }
  TraceSpan(const TraceSpan&) = delete;
  TraceSpan& operator=(const TraceSpan&) = delete;
  ~TraceSpan() {
    if (label_) [[unlikely]]
      end();
  }
  // Calls the function with the label while a trace is active. Its exceptions are ignored.
  template <class Function>
  void describe(const Function& function) noexcept {
    if (!own_label_) return;
    try {
      function(*own_label_);
    } catch (...) {  // out of memory for the text
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

// The fe_execution.trace for a device without queues, which computes the nodes before the call returns.
class NodeTimeRecorder {
 public:
  explicit NodeTimeRecorder(const SegmentLabelsPointer& labels) : labels_(labels) {}
  static void record_node_time(void* call, uint32_t node, uint64_t begin_ns, uint64_t end_ns) noexcept;

 private:
  const SegmentLabelsPointer& labels_;
};

}  // namespace ferrule
