// Names of the segments of an executable and of their nodes in traces.
#pragma once

#include "core/compiler/plan.h"
#include "core/sync/mutexes.h"
#include "core/trace/trace.h"

#include <map>
#include <string>

namespace ferrule {

// Made when first requested. Thread-safe.
class TraceLabels {
 public:
  // `what`: what the segment computes. Null if nothing is traced, and without memory.
  SegmentLabelsPointer of(const Segment& segment, const std::string& what) noexcept {
    return is_tracing() ? found(segment, what) : nullptr;
  }

 private:
  SegmentLabelsPointer found(const Segment& segment, const std::string& what) noexcept;

  BriefMutex mutex_;
  std::map<const Segment*, SegmentLabelsPointer> labels_;
};

}  // namespace ferrule
