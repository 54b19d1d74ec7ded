// Normalization of rows by their mean and variance (layer_norm) or by their root mean square (rms_norm): the mean, then
// the mean squared distance to it, or to 0. Limited by bytes: a row is read and written once (longer ones: rows.h),
// weight and bias come from caches.
#pragma once

#include "kernels/normalization/layer_norm.h"
#include "kernels/normalization/row_teams.h"

namespace ferrule::cuda {
namespace {

// The weight and the bias of a vector.
template <class Item, uint32_t V>
struct Affine {
  MemoryRow<const Item, V> weight, bias;
  bool has_weight, has_bias;
  __device__ explicit Affine(const LayerNormParameters& p)
      : weight(pointer<const Item>(p.weight), p.weight_stride),
        bias(pointer<const Item>(p.bias), p.bias_stride),
        has_weight(p.has_weight != 0),
        has_bias(p.has_bias != 0) {}
  __device__ __forceinline__ void apply(uint64_t vector, float (&values)[V]) const {
    if (has_weight) {
      const Items<Item, V> factors = weight.load(vector);
#pragma unroll
      for (uint32_t i = 0; i < V; ++i) values[i] *= to_float(factors.at[i]);
    }
    if (has_bias) {
      const Items<Item, V> terms = bias.load(vector);
#pragma unroll
      for (uint32_t i = 0; i < V; ++i) values[i] += to_float(terms.at[i]);
    }
  }
};

// The power of two that a row is multiplied by if the mean of its squares is out of range.
__device__ __forceinline__ float factor_for(float mean_square) {
  return !(mean_square < INFINITY) ? 0x1p-90f : mean_square < 0x1p-100f ? 0x1p90f : 1.0f;
}
// Whether the threads of a warp, or of a larger team, compute a row again: all of them if one has a factor.
__device__ __forceinline__ bool is_scaled(float by) { return __ballot_sync(0xffffffffu, by != 1.0f) != 0; }

template <class Item, uint32_t V, uint32_t N, bool is_centered>
__device__ void normalize_held(const LayerNormParameters& p) {
  FERRULE_SHARED(float, shared, [4][32]);
  const OwnRow own(p.row);
  const uint32_t team = p.row.team, count = own.exists ? static_cast<uint32_t>(p.row.width) / V : 0;
  const auto width = static_cast<float>(p.row.width);
  HeldRow<Item, V, N> held;
  float by = 1, mean_square = 0;
#pragma unroll 1
  for (uint32_t attempt = 0;; ++attempt) {
    held.load({pointer<const Item>(p.row.x) + offset_of(p.row.rows, own.row), p.row.stride}, own.lane, team, count, 0);
    float sum = 0, mean = 0;
    if (attempt > 0) {
#pragma unroll
      for (uint32_t n = 0; n < N; ++n)
#pragma unroll
        for (uint32_t i = 0; i < V; ++i) held.at[n][i] *= by;
    }
    if constexpr (is_centered) {
#pragma unroll
      for (uint32_t n = 0; n < N; ++n) {
        float values[V];
#pragma unroll
        for (uint32_t i = 0; i < V; ++i) values[i] = held.at[n][i];
        sum += pairwise_sum(values);
      }
      mean = total_of_team<Sum>(sum, team, shared[2 * attempt]) / width;
      sum = 0;
    }
#pragma unroll
    for (uint32_t n = 0; n < N; ++n) {
      float squares[V];
#pragma unroll
      for (uint32_t i = 0; i < V; ++i) {
        if constexpr (is_centered) held.at[n][i] = own.lane + n * team < count ? held.at[n][i] - mean : 0;
        squares[i] = held.at[n][i] * held.at[n][i];
      }
      sum += pairwise_sum(squares);
    }
    mean_square = total_of_team<Sum>(sum, team, shared[2 * attempt + 1]) / width + p.epsilon * by * by;
    if (attempt > 0) break;
    by = factor_for(mean_square);
    if (!is_scaled(by)) break;
  }
  const float factor = rsqrtf(mean_square);
  const Affine<Item, V> affine(p);
  const MemoryRow<Item, V> to(pointer<Item>(p.row.to) + own.row * p.row.width, 1);
#pragma unroll
  for (uint32_t n = 0; n < N; ++n) {
    if (own.lane + n * team >= count) continue;
#pragma unroll
    for (uint32_t i = 0; i < V; ++i) held.at[n][i] *= factor;
    affine.apply(own.lane + n * team, held.at[n]);
    to.store(own.lane + n * team, held.at[n]);
  }
}

template <class Item, uint32_t V, bool is_centered>
__device__ void normalize_long(const LayerNormParameters& p) {
  using Vector = Items<Item, V>;
  FERRULE_SHARED(float, shared, [4][32]);
  FERRULE_DYNAMIC_SHARED(Vector, kept);
  const OwnRow own(p.row);
  const auto width = static_cast<float>(p.row.width);
  const LongRow<Item, V> row = {{pointer<const Item>(p.row.x) + offset_of(p.row.rows, own.row), p.row.stride},
                                p.row.in_shared != 0 ? kept : nullptr,
                                p.row.width / V};
  float sum = 0, mean = 0, by = 1, mean_square = 0;
  const auto add_squares = [&](uint64_t, const Vector& items) {
    float squares[V];
#pragma unroll
    for (uint32_t i = 0; i < V; ++i) {
      const float distance = to_float(items.at[i]) * by - mean;
      squares[i] = distance * distance;
    }
    sum += pairwise_sum(squares);
  };
  const auto add = [&](uint64_t, const Vector& items) {
    float values[V];
#pragma unroll
    for (uint32_t i = 0; i < V; ++i) values[i] = to_float(items.at[i]) * by;
    sum += pairwise_sum(values);
  };
  if constexpr (is_centered) {
    row.first_pass(add);
    mean = total_of_team<Sum>(sum, p.row.team, shared[0]) / width;
    sum = 0;
    row.pass(add_squares);
  } else {
    row.first_pass(add_squares);
  }
  mean_square = total_of_team<Sum>(sum, p.row.team, shared[1]) / width + p.epsilon;
  by = factor_for(mean_square);
  if (by != 1) {  // for all threads of the block, which has one row
    sum = 0;
    if constexpr (is_centered) {
      row.pass(add);
      mean = total_of_team<Sum>(sum, p.row.team, shared[2]) / width;
      sum = 0;
    }
    row.pass(add_squares);
    mean_square = total_of_team<Sum>(sum, p.row.team, shared[3]) / width + p.epsilon * by * by;
  }
  const float factor = rsqrtf(mean_square);
  const Affine<Item, V> affine(p);
  const MemoryRow<Item, V> to(pointer<Item>(p.row.to) + own.row * p.row.width, 1);
  row.pass([&](uint64_t vector, const Vector& items) {
    float results[V];
#pragma unroll
    for (uint32_t i = 0; i < V; ++i) results[i] = (to_float(items.at[i]) * by - mean) * factor;
    affine.apply(vector, results);
    to.store(vector, results);
  });
}

}  // namespace
}  // namespace ferrule::cuda

// Rows of up to 32 vectors, of up to 8192 elements, and others, with one block on a multiprocessor; for V = 1 and for
// vectors of 16 bytes.
#define NORM_KERNELS(name, is_centered, dtype, Item, V)                                                          \
  FERRULE_KERNEL(name##_short_##dtype, LayerNormParameters, 256) { normalize_held<Item, V, 1, is_centered>(p); } \
  FERRULE_KERNEL(name##_held_##dtype, LayerNormParameters, most_held_threads) {                                  \
    normalize_held<Item, V, held_items / V, is_centered>(p);                                                     \
  }                                                                                                              \
  FERRULE_KERNEL(name##_long_##dtype, LayerNormParameters, 1024, 1) { normalize_long<Item, V, is_centered>(p); }
#define NORM_KERNELS_OF_ALL_DTYPES(name, is_centered)    \
  NORM_KERNELS(name, is_centered, f32, float, 1)         \
  NORM_KERNELS(name, is_centered, f16, Half, 1)          \
  NORM_KERNELS(name, is_centered, bf16, BFloat16, 1)     \
  NORM_KERNELS(name, is_centered, f32_vectors, float, 4) \
  NORM_KERNELS(name, is_centered, f16_vectors, Half, 8)  \
  NORM_KERNELS(name, is_centered, bf16_vectors, BFloat16, 8)
