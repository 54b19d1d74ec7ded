// iota: 0, 1, 2, ... Limit: bytes of memory.
#include "kernels/creation/iota.h"

#include <type_traits>

#include "kernels/device.h"

namespace ferrule::cuda {
namespace {

template <class Item>
__device__ __forceinline__ Item item_of(uint64_t number) {
  if constexpr (sizeof(Item) == 2 && !std::is_integral_v<Item>)
    return from_float<Item>(static_cast<float>(number));
  else
    return static_cast<Item>(number);
}

// 16 bytes of items at a time, where they are aligned.
template <class Item>
__device__ __forceinline__ void iota(const IotaParameters& p) {
  constexpr uint64_t width = 16 / sizeof(Item);
  struct alignas(16) Group {
    Item items[width];
  };
  const uint64_t groups = p.to % 16 == 0 ? p.count / width : 0;
  for (uint64_t i = thread_number(); i < groups; i += thread_count()) {
    Group group;
#pragma unroll
    for (uint64_t k = 0; k < width; ++k) group.items[k] = item_of<Item>(i * width + k);
    pointer<Group>(p.to)[i] = group;
  }
  for (uint64_t i = groups * width + thread_number(); i < p.count; i += thread_count())
    pointer<Item>(p.to)[i] = item_of<Item>(i);
}

}  // namespace
}  // namespace ferrule::cuda

using namespace ferrule::cuda;

FERRULE_KERNEL(iota_u8, IotaParameters, 256) { iota<uint8_t>(p); }
FERRULE_KERNEL(iota_u16, IotaParameters, 256) { iota<uint16_t>(p); }
FERRULE_KERNEL(iota_u32, IotaParameters, 256) { iota<uint32_t>(p); }
FERRULE_KERNEL(iota_u64, IotaParameters, 256) { iota<uint64_t>(p); }
FERRULE_KERNEL(iota_f16, IotaParameters, 256) { iota<Half>(p); }
FERRULE_KERNEL(iota_bf16, IotaParameters, 256) { iota<BFloat16>(p); }
FERRULE_KERNEL(iota_f32, IotaParameters, 256) { iota<float>(p); }
FERRULE_KERNEL(iota_f64, IotaParameters, 256) { iota<double>(p); }
