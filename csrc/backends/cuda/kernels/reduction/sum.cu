// Sums over axes: floating-point numbers, of 16 bits in float; integers modulo 2^64, signed or not.
#include "kernels/reduction/reduce_kernels.h"

namespace ferrule::cuda {

REDUCE_KERNELS(sum, f16, Sum<Half>)
REDUCE_KERNELS(sum, bf16, Sum<BFloat16>)
REDUCE_KERNELS(sum, f32, Sum<float>)
REDUCE_KERNELS(sum, f64, Sum<double>)
REDUCE_KERNELS(sum, i64, Sum<uint64_t>)

}  // namespace ferrule::cuda
