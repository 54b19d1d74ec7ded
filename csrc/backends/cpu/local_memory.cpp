#include "local_memory.h"

#include <ferrule/backend.hpp>

#include <algorithm>
#include <thread>

namespace ferrule::cpu {

LocalMemory local_memory(const LocalScratch& asked) {
  LocalMemory local;
  if (asked.bytes == 0) return local;
  static const uint32_t processors = std::thread::hardware_concurrency();
  const uint32_t most = std::max({1u, processors, sdk::host->thread_count()});
  local.bytes = aligned(asked.bytes);
  local.count = static_cast<uint32_t>(std::clamp<int64_t>(asked.threads, 1, most));
  return local;
}

}  // namespace ferrule::cpu
