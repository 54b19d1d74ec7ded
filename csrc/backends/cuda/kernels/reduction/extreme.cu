// Greatest and least elements over axes.
#include "kernels/reduction/reduce_kernels.h"

namespace ferrule::cuda {

REDUCE_KERNELS(extreme, bool, Extreme<Bool>)
REDUCE_KERNELS(extreme, i8, Extreme<int8_t>)
REDUCE_KERNELS(extreme, u8, Extreme<uint8_t>)
REDUCE_KERNELS(extreme, i16, Extreme<int16_t>)
REDUCE_KERNELS(extreme, u16, Extreme<uint16_t>)
REDUCE_KERNELS(extreme, i32, Extreme<int32_t>)
REDUCE_KERNELS(extreme, u32, Extreme<uint32_t>)
REDUCE_KERNELS(extreme, i64, Extreme<int64_t>)
REDUCE_KERNELS(extreme, u64, Extreme<uint64_t>)
REDUCE_KERNELS(extreme, f16, Extreme<Half>)
REDUCE_KERNELS(extreme, bf16, Extreme<BFloat16>)
REDUCE_KERNELS(extreme, f32, Extreme<float>)
REDUCE_KERNELS(extreme, f64, Extreme<double>)

}  // namespace ferrule::cuda
