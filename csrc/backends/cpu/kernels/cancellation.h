// Whether the caller cancels the computation.
#pragma once

#include "simd.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {

// Returns the error `cancelled` if the caller cancels, else null. Loops that take long on one thread call it every
// millisecond or so, also inside ranges. It runs a parallel_for of two grains, because the core checks between grains.
inline fe_error* cancelled(const Call& call) {
  return call.host->parallel_for(
      2, 1, 1, [](void*, int64_t, int64_t, uint32_t) -> fe_error* { return nullptr; }, nullptr);
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
