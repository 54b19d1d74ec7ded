// Products of int8 and uint8 by matrix instructions.
#include "kernels/linear_algebra/matmul_bytes_tensor.h"

namespace ferrule::cuda {
namespace {

template <ByteShape SHAPE>
using ProductOf = ByteProduct<SHAPE.m, SHAPE.n, SHAPE.warps_m, SHAPE.warps_n, SHAPE.stages>;
using Large = ProductOf<large_byte_shape>;
using Small = ProductOf<small_byte_shape>;
using Rows = ProductOf<rows_byte_shape>;

}  // namespace

FERRULE_KERNEL(matmul_bytes_large_u8, MatmulParameters, 128) { Large::run<uint8_t>(p); }
FERRULE_KERNEL(matmul_bytes_small_u8, MatmulParameters, 128) { Small::run<uint8_t>(p); }
FERRULE_KERNEL(matmul_bytes_rows_u8, MatmulParameters, 128) { Rows::run<uint8_t>(p); }

}  // namespace ferrule::cuda
