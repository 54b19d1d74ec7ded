// The device's part of strided copies. Limit: bytes of memory.
#pragma once

#include "kernels/movement/strided_copy.h"
#include "kernels/movement/units.h"

namespace ferrule::cuda {

struct RunOffsets {
  int64_t from, to;
};

template <class Number>
__device__ __forceinline__ RunOffsets offsets_of_run(const StridedCopyParameters& p, Number run) {
  RunOffsets offsets = {0, 0};
#pragma unroll 1
  for (uint32_t axis = 0; axis < p.rank; ++axis) {
    const auto size = static_cast<Number>(p.axes[axis].size);
    const Number rest = axis + 1 == p.rank ? 0 : run / size;
    const auto at = static_cast<int64_t>(run - rest * size);
    offsets.from += at * p.axes[axis].from;
    offsets.to += at * p.axes[axis].to;
    run = rest;
  }
  return offsets;
}

template <class Unit, class Number>
__device__ __forceinline__ void copy_units(const StridedCopyParameters& p, Address from, Address to) {
  const auto per_run = static_cast<Number>(p.run_bytes / sizeof(Unit));
  Unit units[unit_slots] = {};
  int64_t targets[unit_slots];
  for_each_slot<Number>(
      p.runs * per_run,
      [&](Number number, int slot) {
        const Number run = p.rank == 0 ? 0 : number / per_run;
        const RunOffsets offsets = offsets_of_run(p, run);
        const auto inside = static_cast<int64_t>(uint64_t{number - run * per_run} * sizeof(Unit));
        units[slot] = load_unit<Unit>(from, offsets.from + inside);
        targets[slot] = offsets.to + inside;
      },
      [&](Number, int slot) { store_unit(to, targets[slot], units[slot]); });
}

__device__ __forceinline__ void copy_runs(const StridedCopyParameters& p, Address from, Address to) {
  with_unit(unit_bytes(from | to | p.alignment), [&](auto unit) {
    using Unit = decltype(unit);
    with_number(p.runs * (p.run_bytes / sizeof(Unit)),
                [&](auto number) { copy_units<Unit, decltype(number)>(p, from, to); });
  });
}

}  // namespace ferrule::cuda
