// Conversion of blocks to float32. A thread converts eight adjacent elements. Limit: bytes of memory.
#include <ferrule/dtypes.h>

#include "kernels/conversion/blocks.h"
#include "kernels/device.h"

namespace ferrule::cuda {
namespace {

using uint = uint32_t;
#define BLOCK const uint8_t*
#define BYTE(block, at) uint(block[at])
#define BLOCK_FUNCTION __device__ __forceinline__
#define FUNCTION __device__ __forceinline__
#define NUMBERS(numbers) int(&numbers)[8]
#define FLOAT16(bits) to_float(Half{static_cast<uint16_t>(bits)})
#define BITS_AS_FLOAT(bits) bits_as<float>(uint(bits))
#define TABLE(type) __device__ const type
#include <ferrule/kernels/block_weights.inc>

struct alignas(16) Four {
  float at[4];
};

// The rows of sdk::dtype_table.
enum Row : uint32_t {
#define ROW(id, ...) row_##id,
  FE_DTYPES(ROW, ROW)
#undef ROW
};

// The weights of eight elements from `first` on, a multiple of 8.
__device__ __forceinline__ void decode(uint32_t dtype_row, const uint8_t* block, uint first, float (&weights)[8]) {
  int numbers[8] = {};
  float scale = 0, least = 0;
  switch (dtype_row) {
#define CASE(id, ...)                      \
  case row_##id:                           \
    id##_numbers(block, first, numbers);   \
    scale = id##_scale(block, first / 16); \
    least = id##_least(block, first / 16); \
    break;
    FE_DTYPES(FE_NO_DTYPE, CASE)
#undef CASE
    default:
      break;
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) weights[i] = scale * static_cast<float>(numbers[i]) - least;
}

}  // namespace
}  // namespace ferrule::cuda

using namespace ferrule::cuda;

FERRULE_KERNEL(dequantize, DequantizeParameters, 256) {
  const bool is_aligned = p.to % 16 == 0;
  for (uint64_t i = thread_number(); i < p.count; i += thread_count()) {
    const uint64_t number = i / p.in_block;
    float y[8];
    decode(p.dtype_row, pointer<const uint8_t>(p.from) + offset_of(p.blocks, number) * int64_t{p.block_bytes},
           static_cast<uint>(i - number * p.in_block) * 8, y);
    if (is_aligned) {
#pragma unroll
      for (int k = 0; k < 8; k += 4) pointer<Four>(p.to)[2 * i + k / 4] = {y[k], y[k + 1], y[k + 2], y[k + 3]};
      continue;
    }
#pragma unroll
    for (int k = 0; k < 8; ++k) pointer<float>(p.to)[8 * i + static_cast<uint64_t>(k)] = y[k];
  }
}
