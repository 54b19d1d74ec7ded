// What traces call the segments of an executable and their nodes.
#pragma once

#include "core/compiler/plan.h"
#include "core/sync/mutexes.h"
#include "core/trace/trace.h"

#include <map>
#include <string>

namespace ferrule {

// Made when they are first asked for. Any thread.
class TraceLabels {
 public:
  // `what` the segment computes. Null while nobody traces, and without memory.
  SegmentLabelsPointer of(const Segment& segment, const std::string& what) noexcept {
    return is_tracing() ? found(segment, what) : nullptr;
  }

 private:
  SegmentLabelsPointer found(const Segment& segment, const std::string& what) noexcept;

  BriefMutex mutex_;
  std::map<const Segment*, SegmentLabelsPointer> labels_;
};

}  // namespace ferrule
