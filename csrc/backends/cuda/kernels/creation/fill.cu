// Fills memory with a pattern. Limit: bytes of memory, which are written 16 at a time where the address allows it.
#include "parameters/fill.h"

#include "kernels/device.h"

namespace ferrule::cuda {
namespace {

template <class Item>
__device__ void fill(const FillParameters& p) {
  constexpr uint64_t width = 16 / sizeof(Item);
  struct alignas(16) Group {
    Item items[width];
  };
  Item item;
  memcpy(&item, p.pattern, sizeof item);
  Group group;
#pragma unroll
  for (uint64_t k = 0; k < width; ++k) group.items[k] = item;
  const uint64_t groups = p.to % 16 == 0 ? p.count / width : 0;
  for (uint64_t i = thread_number(); i < groups; i += thread_count()) pointer<Group>(p.to)[i] = group;
  for (uint64_t i = groups * width + thread_number(); i < p.count; i += thread_count()) pointer<Item>(p.to)[i] = item;
}

}  // namespace

FERRULE_KERNEL(fill_u16, FillParameters, 256) { fill<uint16_t>(p); }
FERRULE_KERNEL(fill_u32, FillParameters, 256) { fill<uint32_t>(p); }
FERRULE_KERNEL(fill_u64, FillParameters, 256) { fill<uint64_t>(p); }
FERRULE_KERNEL(fill_u128, FillParameters, 256) { fill<uint4>(p); }

}  // namespace ferrule::cuda
