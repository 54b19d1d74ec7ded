// Fills memory with a pattern.
#include "parameters/fill.h"

#include "kernels/device.h"

namespace ferrule::cuda {
namespace {

template <class Item>
__device__ void fill(const FillParameters& p) {
  Item item;
  memcpy(&item, p.pattern, sizeof item);
  for (uint64_t i = thread_number(); i < p.count; i += thread_count()) pointer<Item>(p.to)[i] = item;
}

}  // namespace

FERRULE_KERNEL(fill_u16, FillParameters, 256) { fill<uint16_t>(p); }
FERRULE_KERNEL(fill_u32, FillParameters, 256) { fill<uint32_t>(p); }
FERRULE_KERNEL(fill_u64, FillParameters, 256) { fill<uint64_t>(p); }
FERRULE_KERNEL(fill_u128, FillParameters, 256) { fill<uint4>(p); }

}  // namespace ferrule::cuda
