// Products of float32 rows with a part of a panel: 32 elements of k by the columns of a panel.
#pragma once

#include "block_panels.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// c[rows][panel_columns] (+)= scale * (a[part][rows] @ w[part][panel_columns]). Without `is_scaled` there is no scale.
template <int rows, bool is_scaled>
HWY_NOINLINE void multiply_part(const float* HWY_RESTRICT a, const float* HWY_RESTRICT w,
                                const float* HWY_RESTRICT scale, bool is_first, float* HWY_RESTRICT c) {
  const Full<float> d;
  Lanes sum[rows][2];
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) sum[i][0] = sum[i][1] = hn::Zero(d);
  for (int64_t k = 0; k < part; ++k, a += rows, w += panel_columns) {
    const Lanes w0 = hn::Load(d, w), w1 = hn::Load(d, w + lanes);
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      const Lanes x = hn::Set(d, a[i]);
      sum[i][0] = hn::MulAdd(x, w0, sum[i][0]);
      sum[i][1] = hn::MulAdd(x, w1, sum[i][1]);
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i)
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) {
      float* const to = c + i * panel_columns + j * lanes;
      const Lanes before = is_first ? hn::Zero(d) : hn::Load(d, to);
      if constexpr (is_scaled)
        hn::Store(hn::MulAdd(sum[i][j], hn::Load(d, scale + j * lanes), before), d, to);
      else
        hn::Store(hn::Add(sum[i][j], before), d, to);
    }
}

// The products of a part with one row of x, from registers: sum = a[part] @ w[part][panel_columns].
struct RowProducts {
  const float* a;
  float* scale;
  Lanes sum[vectors];

  RowProducts(const float* row, float* scales) : a(row), scale(scales) {
    for (Lanes& each : sum) each = hn::Zero(Full<float>());
  }
  template <int v>
  HWY_INLINE void add(Lanes weights, int64_t element) {
    sum[v] = hn::MulAdd(hn::Set(Full<float>(), a[element]), weights, sum[v]);
  }
};

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
