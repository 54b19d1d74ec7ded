// Products by mma.sync with the ops that are fused to them. One kernel has all layouts, so that it has the interpreter
// once.
//
// The totals of a tile are rounded to the dtype of the product and laid into shared memory: no thread keeps sums in
// registers while it interprets, and threads that are next to each other finish neighbours.
#pragma once

#include "kernels/linear_algebra/matmul_tensor.h"
#include "kernels/linear_algebra/run_epilogue.h"

namespace ferrule::cuda {

template <class Product>
inline constexpr uint32_t pitch_of_totals = Product::shape.totals_pitch();

template <class Product, class Item>
__device__ __forceinline__ void lay_out_totals(const MatmulParameters& p, const float (&totals)[Product::count],
                                               const float (&sums)[Product::count]) {
  FERRULE_DYNAMIC_SHARED(Item, memory);
  const uint32_t lane = threadIdx.x % 32;
  Item* const own =
      memory + (Product::warp_m() + lane / 4) * pitch_of_totals<Product> + Product::warp_n() + lane % 4 * 2;
#pragma unroll
  for (uint32_t i = 0; i < Product::count; i += 2) {
    // Each instruction gives two pairs, eight rows apart, of 16 rows and 8 columns.
    constexpr uint32_t across = Product::pairs_n * 2;
    const uint32_t row = i / 4 / across * 16 + i / 2 % 2 * 8, column = i / 4 % across * 8;
    Pack<Item, 2> pair;
#pragma unroll
    for (uint32_t j = 0; j < 2; ++j) pair.of[j] = ItemOf<Item>::from(total_at(totals, i + j, p) + sums[i + j]);
    *reinterpret_cast<Pack<Item, 2>*>(own + row * pitch_of_totals<Product> + column) = pair;
  }
}

// Whether there is code for tiles of halves that are 128 wide or wider: below compute capability 9.0 they would need
// more registers than there are. As in matmul.cpp.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
inline constexpr bool has_wide_epilogue = false;
#else
inline constexpr bool has_wide_epilogue = true;
#endif

template <class Product, class Item>
__device__ __forceinline__ void multiply_with_epilogue(const MatmulEpilogueParameters& q) {
  if constexpr (has_mma_m16n8k16 && (sizeof(Item) == 4 || Product::columns < 128 || has_wide_epilogue)) {
    const MatmulParameters& p = q.product;
    {
      float sums[Product::count], totals[Product::count];
      if (p.a_along_k != 0)
        p.b_along_k != 0 ? Product::template add_up<Item, true, true>(p, sums, totals)
                         : Product::template add_up<Item, true, false>(p, sums, totals);
      else
        p.b_along_k != 0 ? Product::template add_up<Item, false, true>(p, sums, totals)
                         : Product::template add_up<Item, false, false>(p, sums, totals);
      lay_out_totals<Product, Item>(p, totals, sums);
    }
    __syncthreads();

    constexpr uint32_t together = Product::columns < 128 ? 8 : 16, parts = Product::columns / together;
    FERRULE_DYNAMIC_SHARED(const Item, memory);
    const TilePlace place = place_of_tile<Product::rows, Product::columns>(p);
#pragma unroll 1
    for (uint32_t part = threadIdx.x; part < Product::rows * parts; part += Product::threads) {
      const uint32_t row = part / parts, column = part % parts * together;
      const auto items =
          *reinterpret_cast<const Pack<Item, together>*>(memory + row * pitch_of_totals<Product> + column);
      Pack<float, together> sums;
#pragma unroll
      for (uint32_t i = 0; i < together; ++i) sums.of[i] = value_of<float>(items.of[i]);
      finish_sums(p, q.epilogue, place, place.first_m + row, place.first_n + column, sums);
    }
  }
}

}  // namespace ferrule::cuda
