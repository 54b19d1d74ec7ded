// Products over axes: floating-point numbers, of 16 bits in float; integers modulo 2^64, signed or not.
#include "kernels/reduction/reduce_kernels.h"

namespace ferrule::cuda {

REDUCE_KERNELS(prod, f16, Product<Half>)
REDUCE_KERNELS(prod, bf16, Product<BFloat16>)
REDUCE_KERNELS(prod, f32, Product<float>)
REDUCE_KERNELS(prod, f64, Product<double>)
REDUCE_KERNELS(prod, i64, Product<uint64_t>)

}  // namespace ferrule::cuda
