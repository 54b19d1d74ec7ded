// The events of traces and their descriptions, the clock, and whether a trace is active.
#pragma once

#include <ferrule/ferrule.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ferrule {

// The description of an event. Events of the same work share one.
struct TraceLabel {
  std::string name;    // an op, a pass, ...
  std::string detail;  // dtypes and shapes
  std::string kernel;  // the module's name for it
  std::string device;
  uint64_t bytes_read = 0, bytes_written = 0;
};
using TraceLabelPointer = std::shared_ptr<const TraceLabel>;

// The labels of a segment and its nodes.
struct SegmentLabels {
  TraceLabel whole;
  std::vector<TraceLabel> nodes;
};
using SegmentLabelsPointer = std::shared_ptr<const SegmentLabels>;

struct TraceEvent {
  fe_trace_kind kind = FE_TRACE_RECORD;
  int32_t queue = -1;                 // fe_queue_kind of the device's queue; -1 for a host thread
  uint64_t thread = 0;                // the system's number of the host thread
  uint64_t begin_ns = 0, end_ns = 0;  // by the host's monotonic clock
  TraceLabelPointer label;
};

// Whether a trace is active. Read through is_tracing(), set by the sessions.
inline constinit std::atomic<bool> trace_flag{false};
inline bool is_tracing() noexcept { return trace_flag.load(std::memory_order_relaxed); }

uint64_t monotonic_ns() noexcept;
// The system's number of the calling thread.
uint64_t thread_number() noexcept;

}  // namespace ferrule
