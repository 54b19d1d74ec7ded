// The memory that each thread of a step has for itself, as parts of the scratch memory of an execution.
#pragma once

#include "kernel.h"

namespace ferrule::cpu {

constexpr uint64_t scratch_alignment = 64;
constexpr uint64_t aligned(uint64_t bytes) {
  return (bytes + scratch_alignment - 1) / scratch_alignment * scratch_alignment;
}

// Memory with one part per thread that can work at the same time, without an address. It allows for the threads of the
// whole machine, because the core's number of threads may be raised later.
LocalMemory local_memory(const LocalScratch& asked);
inline uint64_t size_of(const LocalMemory& local) { return local.bytes * local.count; }
inline LocalMemory placed(LocalMemory local, char* at) {
  local.data = at;
  return local;
}

}  // namespace ferrule::cpu
