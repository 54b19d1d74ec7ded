// Adds up the sums of the segments of K, in order: 16 bytes of neighbouring sums at once. Limit: bytes of the sums.
#include "kernels/linear_algebra/matmul_tiles.h"

namespace ferrule::cuda {
namespace {

template <class Item, class Value>
__device__ void join(const MatmulSegmentsParameters& p) {
  constexpr uint32_t width = 16 / sizeof(Value);
  using Vector = Pack<Value, width>;
  using Items = Pack<Item, width>;
  const Value* const partials = pointer<const Value>(p.partials);
  const bool has_vectors = p.count % width == 0 && p.to % sizeof(Items) == 0;
  const uint64_t vectors = has_vectors ? p.count / width : 0;
  for (uint64_t i = thread_number(); i < vectors; i += thread_count()) {
    Vector sums = {};
#pragma unroll 4
    for (uint32_t segment = 0; segment < p.segments; ++segment) {
      const Vector more = *reinterpret_cast<const Vector*>(partials + segment * p.count + i * width);
#pragma unroll
      for (uint32_t k = 0; k < width; ++k) sums.of[k] += more.of[k];
    }
    Items items;
#pragma unroll
    for (uint32_t k = 0; k < width; ++k) items.of[k] = ItemOf<Item>::from(sums.of[k]);
    pointer<Items>(p.to)[i] = items;
  }
  for (uint64_t i = vectors * width + thread_number(); i < p.count; i += thread_count()) {
    Value sum = Value(0);
#pragma unroll 4
    for (uint32_t segment = 0; segment < p.segments; ++segment) sum += partials[segment * p.count + i];
    pointer<Item>(p.to)[i] = ItemOf<Item>::from(sum);
  }
}

}  // namespace

FERRULE_KERNEL(matmul_segments_f16, MatmulSegmentsParameters, 256) { join<Half, float>(p); }
FERRULE_KERNEL(matmul_segments_bf16, MatmulSegmentsParameters, 256) { join<BFloat16, float>(p); }
FERRULE_KERNEL(matmul_segments_f32, MatmulSegmentsParameters, 256) { join<float, float>(p); }
FERRULE_KERNEL(matmul_segments_f64, MatmulSegmentsParameters, 256) { join<double, double>(p); }
FERRULE_KERNEL(matmul_segments_u8, MatmulSegmentsParameters, 256) { join<uint8_t, uint32_t>(p); }
FERRULE_KERNEL(matmul_segments_u16, MatmulSegmentsParameters, 256) { join<uint16_t, uint32_t>(p); }
FERRULE_KERNEL(matmul_segments_u32, MatmulSegmentsParameters, 256) { join<uint32_t, uint32_t>(p); }
FERRULE_KERNEL(matmul_segments_u64, MatmulSegmentsParameters, 256) { join<uint64_t, uint64_t>(p); }

}  // namespace ferrule::cuda
