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

template <uint elements, uint bytes, class Decode>
__device__ __forceinline__ void dequantize(const DequantizeParameters& p, Decode decode) {
  constexpr uint32_t in_block = elements / 8;
  const bool is_aligned = p.to % 16 == 0;
  for (uint64_t i = thread_number(); i < p.count * in_block; i += thread_count()) {
    const uint64_t number = i / in_block;
    float y[8];
    decode(pointer<const uint8_t>(p.from) + offset_of(p.blocks, number) * int64_t{bytes},
           static_cast<uint>(i % in_block) * 8, y);
    if (is_aligned) {
#pragma unroll
      for (int k = 0; k < 8; k += 4) pointer<Four>(p.to)[2 * i + k / 4] = {y[k], y[k + 1], y[k + 2], y[k + 3]};
      continue;
    }
#pragma unroll
    for (int k = 0; k < 8; ++k) pointer<float>(p.to)[8 * i + static_cast<uint64_t>(k)] = y[k];
  }
}

}  // namespace
}  // namespace ferrule::cuda

using namespace ferrule::cuda;

#define DEQUANTIZE(dtype, elements, bytes, ...)                                                       \
  FERRULE_KERNEL(dequantize_##dtype, DequantizeParameters, 256) {                                     \
    dequantize<elements, bytes>(p, [](const uint8_t* block, uint first, float(&y)[8]) {               \
      const float scale = dtype##_scale(block, first / 16), least = dtype##_least(block, first / 16); \
      int numbers[8];                                                                                 \
      dtype##_numbers(block, first, numbers);                                                         \
      for (int i = 0; i < 8; ++i) y[i] = scale * static_cast<float>(numbers[i]) - least;              \
    });                                                                                               \
  }
FE_DTYPES(FE_NO_DTYPE, DEQUANTIZE)
