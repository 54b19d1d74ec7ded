// Elements at indices along an axis. Limit: bytes of memory.
#include "kernels/movement/take.h"

#include "kernels/movement/units.h"

namespace ferrule::cuda {
namespace {

// Removes the last digit, of base `size`, from a number.
template <class Number>
__device__ __forceinline__ Number digit_of(Number& number, uint64_t size) {
  if (size == 1) return 0;
  const Number rest = number / static_cast<Number>(size), digit = number - rest * static_cast<Number>(size);
  number = rest;
  return digit;
}

template <class Unit, class Number>
__device__ __forceinline__ void take(const TakeParameters& p) {
  const uint64_t per_run = p.run_bytes / sizeof(Unit);
  const uint64_t count = p.outer_count * p.place_count * p.inner_count * per_run;
  Unit units[unit_slots] = {};
  bool is_read[unit_slots] = {};
  for_each_slot<Number>(
      count,
      [&](Number number, int slot) {
        const Number inside = digit_of(number, per_run), inner = digit_of(number, p.inner_count);
        const Number place = p.outer_count == 1 ? number : digit_of(number, p.place_count);
        const Number outer = p.outer_count == 1 ? 0 : number;
        const int64_t at = offset_in(p.places, place);
        const int64_t found =
            p.index_bytes == 8 ? pointer<const int64_t>(p.indices)[at] : pointer<const int32_t>(p.indices)[at];
        const int64_t index = found < 0 ? found + p.size : found;
        is_read[slot] = index >= 0 && index < p.size;
        if (!is_read[slot]) {
          report(p.fault, Fault::index, p.op, found, p.size, p.axis);
          return;
        }
        const int64_t offset = offset_in(p.outer, outer) + index * p.stride + offset_in(p.inner, inner);
        units[slot] = load_unit<Unit>(p.from, offset + static_cast<int64_t>(inside * sizeof(Unit)));
      },
      [&](Number number, int slot) {
        if (is_read[slot]) store_unit(p.to, static_cast<int64_t>(uint64_t{number} * sizeof(Unit)), units[slot]);
      });
}

}  // namespace
}  // namespace ferrule::cuda

using namespace ferrule::cuda;

FERRULE_KERNEL(take_bytes, TakeParameters, 256) {
  with_unit(unit_bytes(p.from | p.to | p.alignment), [&](auto unit) {
    using Unit = decltype(unit);
    with_number(p.outer_count * p.place_count * p.inner_count * (p.run_bytes / sizeof(Unit)),
                [&](auto number) { take<Unit, decltype(number)>(p); });
  });
}
