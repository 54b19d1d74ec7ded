// Attributes of ops in the form that kernels use.
#pragma once

#include <ferrule/ops.h>

#include "simd.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

template <class A>
const A& attributes_of(const Call& call) {
  return *static_cast<const A*>(call.attributes);
}

// Bit i is set if axis i is reduced. An empty list of axes means all.
template <class A>
uint32_t reduced_axes(const Call& call) {
  const fe_int64_list axes = attributes_of<A>(call).axis;
  if (axes.count == 0) return ~uint32_t{0};
  uint32_t mask = 0;
  for (size_t i = 0; i < axes.count; ++i) mask |= uint32_t{1} << axes.data[i];
  return mask;
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
