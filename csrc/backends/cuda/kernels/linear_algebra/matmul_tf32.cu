// Products of float32 that are rounded to tf32, if the option `tf32` asks for it, in the tiles of matmul.cpp. The last
// letters are the axes along which A and B are contiguous.
#include "kernels/linear_algebra/matmul_tensor.h"

// `...`: see FERRULE_KERNEL.
#define TF32_PRODUCTS(name, Tile, ...)                                                                         \
  FERRULE_KERNEL(matmul_tf32_##name##_kk, MatmulParameters, __VA_ARGS__) { Tile::run<float, true, true>(p); }  \
  FERRULE_KERNEL(matmul_tf32_##name##_kn, MatmulParameters, __VA_ARGS__) { Tile::run<float, true, false>(p); } \
  FERRULE_KERNEL(matmul_tf32_##name##_mk, MatmulParameters, __VA_ARGS__) { Tile::run<float, false, true>(p); } \
  FERRULE_KERNEL(matmul_tf32_##name##_mn, MatmulParameters, __VA_ARGS__) { Tile::run<float, false, false>(p); }

namespace ferrule::cuda {

static_assert(LargeTile::threads == 256 && MediumTile::threads == 128 && SmallTile::threads == 128 &&
              RowsTile::threads == 64 && ColumnsTile::threads == 128);

TF32_PRODUCTS(large, LargeTile, 256)
TF32_PRODUCTS(medium, MediumTile, 128)
TF32_PRODUCTS(small, SmallTile, 128)
TF32_PRODUCTS(rows, RowsTile, 64)
TF32_PRODUCTS(columns, ColumnsTile, 128, 3)

}  // namespace ferrule::cuda
