// Whether the caller cancels the computation.
#pragma once

#include "simd.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {

// The error `cancelled` if it does, else null. For loops that take long on one thread, inside ranges, too: they ask
// every millisecond or so, and a parallel_for of two grains asks the core between them.
inline fe_error* cancelled(const Call& call) {
  return call.host->parallel_for(
      2, 1, 1, [](void*, int64_t, int64_t, uint32_t) -> fe_error* { return nullptr; }, nullptr);
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
