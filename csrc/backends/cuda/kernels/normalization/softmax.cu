// Softmax of rows, and its logarithm. Limited by bytes: a row is read and written once (longer ones: rows.h).
//
// NaN, an infinite greatest element, or no element above -infinity make the whole row NaN, by the arithmetic alone.
#include "kernels/normalization/softmax.h"

#include "kernels/normalization/row_teams.h"

namespace ferrule::cuda {
namespace {

// The results, from x - greatest or its exponential, as is_logarithm has it.
struct Scaling {
  bool is_logarithm;
  float shift, factor;
  __device__ Scaling(bool is_logarithm_, float total)
      : is_logarithm(is_logarithm_), shift(logf(total)), factor(1.0f / total) {}
  __device__ __forceinline__ float operator()(float x) const { return is_logarithm ? x - shift : x * factor; }
};

template <class Item, uint32_t V, uint32_t N>
__device__ void softmax_held(const SoftmaxParameters& p) {
  FERRULE_SHARED(float, shared, [2][32]);
  const OwnRow own(p.row);
  const uint32_t team = p.row.team, count = own.exists ? static_cast<uint32_t>(p.row.width) / V : 0;
  const bool is_logarithm = p.is_logarithm != 0;
  HeldRow<Item, V, N> held;
  held.load({pointer<const Item>(p.row.x) + offset_of(p.row.rows, own.row), p.row.stride}, own.lane, team, count,
            -INFINITY);
  float greatest = -INFINITY;
#pragma unroll
  for (uint32_t n = 0; n < N; ++n)
#pragma unroll
    for (uint32_t i = 0; i < V; ++i) greatest = fmaxf(greatest, held.at[n][i]);
  greatest = total_of_team<Greatest>(greatest, team, shared[0]);
  float sum = 0;
#pragma unroll
  for (uint32_t n = 0; n < N; ++n) {
    float exponentials[V];
#pragma unroll
    for (uint32_t i = 0; i < V; ++i) {
      const float shifted = held.at[n][i] - greatest;
      exponentials[i] = expf(shifted);
      held.at[n][i] = is_logarithm ? shifted : exponentials[i];
    }
    sum += pairwise_sum(exponentials);
  }
  const Scaling scaled(is_logarithm, total_of_team<Sum>(sum, team, shared[1]));
  const MemoryRow<Item, V> to(pointer<Item>(p.row.to) + own.row * p.row.width, 1);
#pragma unroll
  for (uint32_t n = 0; n < N; ++n) {
#pragma unroll
    for (uint32_t i = 0; i < V; ++i) held.at[n][i] = scaled(held.at[n][i]);
    if (own.lane + n * team < count) to.store(own.lane + n * team, held.at[n]);
  }
}

template <class Item, uint32_t V>
__device__ void softmax_long(const SoftmaxParameters& p) {
  using Vector = Items<Item, V>;
  FERRULE_SHARED(float, shared, [2][32]);
  FERRULE_DYNAMIC_SHARED(Vector, kept);
  const OwnRow own(p.row);
  const bool is_logarithm = p.is_logarithm != 0;
  const LongRow<Item, V> row = {{pointer<const Item>(p.row.x) + offset_of(p.row.rows, own.row), p.row.stride},
                                p.row.in_shared != 0 ? kept : nullptr,
                                p.row.width / V};
  float greatest = -INFINITY;
  row.first_pass([&](uint64_t, const Vector& items) {
#pragma unroll
    for (uint32_t i = 0; i < V; ++i) greatest = fmaxf(greatest, to_float(items.at[i]));
  });
  greatest = total_of_team<Greatest>(greatest, p.row.team, shared[0]);
  float sum = 0;
  row.pass([&](uint64_t, const Vector& items) {
    float exponentials[V];
#pragma unroll
    for (uint32_t i = 0; i < V; ++i) exponentials[i] = expf(to_float(items.at[i]) - greatest);
    sum += pairwise_sum(exponentials);
  });
  const Scaling scaled(is_logarithm, total_of_team<Sum>(sum, p.row.team, shared[1]));
  const MemoryRow<Item, V> to(pointer<Item>(p.row.to) + own.row * p.row.width, 1);
  row.pass([&](uint64_t vector, const Vector& items) {
    float results[V];
#pragma unroll
    for (uint32_t i = 0; i < V; ++i) {
      const float shifted = to_float(items.at[i]) - greatest;
      results[i] = scaled(is_logarithm ? shifted : expf(shifted));
    }
    to.store(vector, results);
  });
}

}  // namespace

// Rows of up to 32 vectors, of up to 8192 elements, and others; for V = 1 and for vectors of 16 bytes. A multiprocessor
// has to hold one block of the greatest rows, of 512 threads: most rows have smaller blocks.
#define SOFTMAX_KERNELS(dtype, Item, V)                                                          \
  FERRULE_KERNEL(softmax_short_##dtype, SoftmaxParameters, 256) { softmax_held<Item, V, 1>(p); } \
  FERRULE_KERNEL(softmax_held_##dtype, SoftmaxParameters, most_held_threads, 1) {                \
    softmax_held<Item, V, held_items / V>(p);                                                    \
  }                                                                                              \
  FERRULE_KERNEL(softmax_long_##dtype, SoftmaxParameters, 1024) { softmax_long<Item, V>(p); }

SOFTMAX_KERNELS(f32, float, 1)
SOFTMAX_KERNELS(f16, Half, 1)
SOFTMAX_KERNELS(bf16, BFloat16, 1)
SOFTMAX_KERNELS(f32_vectors, float, 4)
SOFTMAX_KERNELS(f16_vectors, Half, 8)
SOFTMAX_KERNELS(bf16_vectors, BFloat16, 8)

}  // namespace ferrule::cuda
