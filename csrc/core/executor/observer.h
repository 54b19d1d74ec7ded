// Observation of runs: guard zones around all memory that modules write, for executables that were compiled with them,
// and the names of segments and nodes while a trace is active. Most runs are not observed.
#pragma once

#include "core/compiler/plan.h"
#include "core/memory/storage.h"
#include "core/sync/mutexes.h"
#include "core/trace/trace.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ferrule {

// Memory that a module writes in a run.
struct WrittenMemory {
  std::shared_ptr<Storage> storage = nullptr;
  uint64_t offset = 0;  // in bytes, a multiple of every alignment that allocations guarantee
};

// The observer of all runs of an executable. Thread-safe.
class Observer {
 public:
  explicit Observer(bool guards) : guards_(guards) {}
  bool guards() const { return guards_; }
  // The labels of a segment and its nodes, made when first requested. `what`: what the segment computes. Null if
  // nothing is traced, and without memory.
  SegmentLabelsPointer labels_of(const Segment& segment, const std::string& what) noexcept {
    return is_tracing() ? found_labels(segment, what) : nullptr;
  }

 private:
  SegmentLabelsPointer found_labels(const Segment& segment, const std::string& what) noexcept;  // trace_labels.cpp

  const bool guards_;
  BriefMutex mutex_;
  std::map<const Segment*, SegmentLabelsPointer> labels_;
};

// The observer of one run.
class RunObserver {
 public:
  explicit RunObserver(Observer& all) : all_(all) {}
  // Whether memory that modules write lies between guard zones: known bytes before and after it.
  bool guards() const { return all_.guards(); }
  // Memory of `size` bytes between two zones, aligned to `unit` bytes. All of it is filled, so that results that were
  // not written are noticed as well.
  WrittenMemory allocate(const std::shared_ptr<Device>& device, uint64_t size, std::string what, uint64_t unit = 1);
  SegmentLabelsPointer labels_of(const Segment& segment, const std::string& what) noexcept {
    return all_.labels_of(segment, what);
  }
  // Call it when all segments have been executed. Throws Error(internal) that names the memory and the byte that was
  // overwritten.
  void finish() const {
    if (!zones_.empty()) check_zones();
  }

 private:
  struct Zone {
    WrittenMemory memory;
    uint64_t size;
    std::string what;
  };
  void check_zones() const;  // guard_zones.cpp

  Observer& all_;
  std::vector<Zone> zones_;
};

}  // namespace ferrule
