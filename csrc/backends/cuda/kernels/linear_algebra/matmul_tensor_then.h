// Products of halves by matrix instructions, with the ops that are fused to them. One kernel has all layouts, so that
// it has the interpreter once.
#pragma once

#include "kernels/linear_algebra/matmul_tensor.h"
#include "kernels/linear_algebra/run_epilogue.h"

namespace ferrule::cuda {

template <class Product, class Item>
__device__ __forceinline__ void multiply_then(const MatmulThenParameters& q) {
  if constexpr (has_mma_m16n8k16) {
    const MatmulParameters& p = q.product;
    float sums[Product::count], totals[Product::count];
    if (p.a_along_k != 0)
      p.b_along_k != 0 ? Product::template add_up<Item, true, true>(p, sums, totals)
                       : Product::template add_up<Item, true, false>(p, sums, totals);
    else
      p.b_along_k != 0 ? Product::template add_up<Item, false, true>(p, sums, totals)
                       : Product::template add_up<Item, false, false>(p, sums, totals);
    const uint32_t warp_m = Product::warp_m(), warp_n = Product::warp_n();
    const TilePlace place = place_of_tile<Product::rows, Product::columns>(p);
    Product::hand_out(p, totals, sums, Product::buffer_of_warp(),
                      [&](uint32_t row, uint32_t column, const Pack<float, 8>& pack) {
                        finish_sums(q, place, place.first_m + warp_m + row, place.first_n + warp_n + column, pack);
                      });
  }
}

}  // namespace ferrule::cuda
