// Places of the greatest and the least elements along an axis.
#include "kernels/reduction/reduce_kernels.h"

namespace ferrule::cuda {

REDUCE_KERNELS(extreme_index, i8, ExtremeIndex<int8_t>)
REDUCE_KERNELS(extreme_index, u8, ExtremeIndex<uint8_t>)
REDUCE_KERNELS(extreme_index, i16, ExtremeIndex<int16_t>)
REDUCE_KERNELS(extreme_index, u16, ExtremeIndex<uint16_t>)
REDUCE_KERNELS(extreme_index, i32, ExtremeIndex<int32_t>)
REDUCE_KERNELS(extreme_index, u32, ExtremeIndex<uint32_t>)
REDUCE_KERNELS(extreme_index, i64, ExtremeIndex<int64_t>)
REDUCE_KERNELS(extreme_index, u64, ExtremeIndex<uint64_t>)
REDUCE_KERNELS(extreme_index, f16, ExtremeIndex<Half>)
REDUCE_KERNELS(extreme_index, bf16, ExtremeIndex<BFloat16>)
REDUCE_KERNELS(extreme_index, f32, ExtremeIndex<float>)
REDUCE_KERNELS(extreme_index, f64, ExtremeIndex<double>)

}  // namespace ferrule::cuda
