// Adds elements around an array. Limit: bytes of memory.
#include "kernels/movement/pad.h"

#include "kernels/movement/units.h"

namespace ferrule::cuda {
namespace {

// The value that fills, as often as a unit has room for it.
template <class Unit>
__device__ __forceinline__ Unit filled_unit(const PadParameters& p) {
  uint64_t low = 0, high = 0;
  switch (p.value_bytes) {
    case 0:
      break;
    case 1:
      low = high = *pointer<const uint8_t>(p.value) * 0x0101010101010101ull;
      break;
    case 2:
      low = high = *pointer<const uint16_t>(p.value) * 0x0001000100010001ull;
      break;
    case 4:
      low = high = *pointer<const uint32_t>(p.value) * 0x0000000100000001ull;
      break;
    case 8:
      low = high = *pointer<const uint64_t>(p.value);
      break;
    default:
      low = pointer<const uint64_t>(p.value)[0];
      high = pointer<const uint64_t>(p.value)[1];
  }
  if constexpr (sizeof(Unit) == 16)
    return {{static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32), static_cast<uint32_t>(high),
             static_cast<uint32_t>(high >> 32)}};
  else
    return static_cast<Unit>(low);
}

template <class Unit, class Number>
__device__ __forceinline__ void pad(const PadParameters& p) {
  constexpr auto bytes = static_cast<int64_t>(sizeof(Unit));
  const auto per_run = static_cast<Number>(p.run.size / bytes);
  const int64_t before = p.run.before / bytes, inside = p.run.inside / bytes;
  const Unit filler = filled_unit<Unit>(p);
  Unit units[unit_slots] = {};
  for_each_slot<Number>(
      p.count / sizeof(Unit),
      [&](Number number, int slot) {
        Number rest = number / per_run;
        int64_t at = static_cast<int64_t>(number - rest * per_run) - before;
        bool is_inside = at >= 0 && at < inside;
        int64_t offset = at * bytes;
#pragma unroll 1
        for (uint32_t axis = 0; axis < p.rank; ++axis) {
          const auto size = static_cast<Number>(p.axes[axis].size);
          const Number next = axis + 1 == p.rank ? 0 : rest / size;
          at = static_cast<int64_t>(rest - next * size) - p.axes[axis].before;
          is_inside = is_inside && at >= 0 && at < p.axes[axis].inside;
          offset += at * p.axes[axis].stride;
          rest = next;
        }
        units[slot] = is_inside ? load_unit<Unit>(p.from, offset) : filler;
      },
      [&](Number number, int slot) {
        store_unit(p.to, static_cast<int64_t>(uint64_t{number} * sizeof(Unit)), units[slot]);
      });
}

}  // namespace
}  // namespace ferrule::cuda

using namespace ferrule::cuda;

FERRULE_KERNEL(pad_bytes, PadParameters, 256) {
  with_unit(unit_bytes(p.from | p.to | p.alignment), [&](auto unit) {
    using Unit = decltype(unit);
    with_number(p.count / sizeof(Unit), [&](auto number) { pad<Unit, decltype(number)>(p); });
  });
}
