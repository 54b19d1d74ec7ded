// Products of int8 and uint8 by matrix instructions.
#include "kernels/linear_algebra/matmul_bytes_tensor.h"

namespace ferrule::cuda {
namespace {

using Large = ByteProduct<128, 128, 2, 2, 4>;
using Small = ByteProduct<64, 64, 2, 2, 4>;
using Rows = ByteProduct<16, 64, 1, 4, 4>;

}  // namespace

FERRULE_KERNEL(matmul_bytes_large_u8, MatmulParameters, 128) { Large::run<uint8_t>(p); }
FERRULE_KERNEL(matmul_bytes_small_u8, MatmulParameters, 128) { Small::run<uint8_t>(p); }
FERRULE_KERNEL(matmul_bytes_rows_u8, MatmulParameters, 128) { Rows::run<uint8_t>(p); }

}  // namespace ferrule::cuda
