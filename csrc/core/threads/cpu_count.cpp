#include "core/threads/cpu_count.h"

#include <algorithm>
#include <thread>

#if defined(__linux__)
#include <sched.h>
#endif

namespace ferrule {

uint32_t available_cpus() noexcept {
  const uint32_t all = std::max(1u, std::thread::hardware_concurrency());
#if defined(__linux__)
  // Fails on machines with more CPUs than a cpu_set_t has bits; there the number of all is as good as any.
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
    return std::clamp(static_cast<uint32_t>(CPU_COUNT(&allowed)), 1u, all);
#endif
  return all;
}

}  // namespace ferrule
