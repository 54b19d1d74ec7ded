// Counts what executables do, for fe_stats.
#pragma once

#include <atomic>
#include <cstdint>

namespace ferrule {

struct ExecutionCounters {
  std::atomic<uint64_t> compiles{0}, executions{0}, cache_hits{0}, transfers{0};
};
inline ExecutionCounters& execution_counters() {
  static constinit ExecutionCounters counters;
  return counters;
}

}  // namespace ferrule
