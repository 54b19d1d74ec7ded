// Conversion of blocks to float32, by ggml's formulas step by step, so that the bits are those of its Python package
// (gguf.quants). A thread converts four adjacent elements. Limit: bytes of memory.
#include "kernels/conversion/blocks.h"
#include "kernels/device.h"

namespace ferrule::cuda {
namespace {

struct alignas(16) Four {
  float at[4];
};

__device__ __forceinline__ float scale_of(uint16_t bits) { return to_float(Half{bits}); }

// The elements of a block from number `first` on, a multiple of four.
__device__ __forceinline__ Four dequantized(const BlockQ8_0& block, uint32_t first) {
  const float scale = scale_of(block.scale);
  Four y;
#pragma unroll
  for (int i = 0; i < 4; ++i) y.at[i] = scale * static_cast<float>(block.numbers[first + i]);
  return y;
}

__device__ __forceinline__ Four dequantized(const BlockQ4_0& block, uint32_t first) {
  const float scale = scale_of(block.scale);
  const uint32_t shift = first < 16 ? 0 : 4;
  Four y;
#pragma unroll
  for (int i = 0; i < 4; ++i) y.at[i] = scale * static_cast<float>((block.numbers[first % 16 + i] >> shift & 15) - 8);
  return y;
}

__device__ __forceinline__ Four dequantized(const BlockQ4_1& block, uint32_t first) {
  const float scale = scale_of(block.scale), least = scale_of(block.least);
  const uint32_t shift = first < 16 ? 0 : 4;
  Four y;
#pragma unroll
  for (int i = 0; i < 4; ++i) y.at[i] = scale * static_cast<float>(block.numbers[first % 16 + i] >> shift & 15) + least;
  return y;
}

// The five bits of element `at` of 32.
__device__ __forceinline__ int five_bits(const uint8_t* numbers, const uint8_t* high, uint32_t at) {
  return (numbers[at % 16] >> (at < 16 ? 0 : 4) & 15) | (high[at / 8] >> at % 8 & 1) << 4;
}
__device__ __forceinline__ Four dequantized(const BlockQ5_0& block, uint32_t first) {
  const float scale = scale_of(block.scale);
  Four y;
#pragma unroll
  for (uint32_t i = 0; i < 4; ++i)
    y.at[i] = scale * static_cast<float>(five_bits(block.numbers, block.high, first + i) - 16);
  return y;
}
__device__ __forceinline__ Four dequantized(const BlockQ5_1& block, uint32_t first) {
  const float scale = scale_of(block.scale), least = scale_of(block.least);
  Four y;
#pragma unroll
  for (uint32_t i = 0; i < 4; ++i)
    y.at[i] = scale * static_cast<float>(five_bits(block.numbers, block.high, first + i)) + least;
  return y;
}

// The scale and the minimum of part `k`, of 6 bits. The values of the first four parts are in one byte each, the others
// in two.
__device__ __forceinline__ int part_scale(const uint8_t* parts, uint32_t k) {
  return k < 4 ? parts[k] & 63 : (parts[k + 4] & 15) | (parts[k - 4] >> 2 & 48);
}
__device__ __forceinline__ int part_least(const uint8_t* parts, uint32_t k) {
  return k < 4 ? parts[k + 4] & 63 : parts[k + 4] >> 4 | (parts[k] >> 2 & 48);
}

// Part `first` / 32 of a block of q4_K or q5_K.
template <class Block>
struct PartOfEight {
  float scale, least;
  uint32_t shift;          // of the lowest four bits of an element
  const uint8_t* numbers;  // those of element `first` on

  __device__ __forceinline__ PartOfEight(const Block& block, uint32_t first)
      : scale(scale_of(block.scale) * static_cast<float>(part_scale(block.parts, first / 32))),
        least(scale_of(block.least) * static_cast<float>(part_least(block.parts, first / 32))),
        shift(first / 32 % 2 == 0 ? 0 : 4),
        numbers(block.numbers + first / 64 * 32 + first % 32) {}
  __device__ __forceinline__ int low_bits(int i) const { return numbers[i] >> shift & 15; }
  __device__ __forceinline__ float value(int number) const { return scale * static_cast<float>(number) - least; }
};

__device__ __forceinline__ Four dequantized(const BlockQ4K& block, uint32_t first) {
  const PartOfEight part(block, first);
  Four y;
#pragma unroll
  for (int i = 0; i < 4; ++i) y.at[i] = part.value(part.low_bits(i));
  return y;
}

__device__ __forceinline__ Four dequantized(const BlockQ5K& block, uint32_t first) {
  const PartOfEight part(block, first);
  Four y;
#pragma unroll
  for (int i = 0; i < 4; ++i)
    y.at[i] = part.value(part.low_bits(i) | (block.high[first % 32 + i] >> first / 32 & 1) << 4);
  return y;
}

__device__ __forceinline__ Four dequantized(const BlockQ2K& block, uint32_t first) {
  const uint32_t part = block.parts[first / 16], shift = first / 32 % 4 * 2;
  const float scale = scale_of(block.scale) * static_cast<float>(part & 15);
  const float least = scale_of(block.least) * static_cast<float>(part >> 4);
  const uint8_t* const numbers = block.numbers + first / 128 * 32 + first % 32;
  Four y;
#pragma unroll
  for (int i = 0; i < 4; ++i) y.at[i] = scale * static_cast<float>(numbers[i] >> shift & 3) - least;
  return y;
}

__device__ __forceinline__ Four dequantized(const BlockQ3K& block, uint32_t first) {
  const uint32_t k = first / 16, quarter = first / 32;
  const int low = block.parts[k % 8] >> (k < 8 ? 0 : 4) & 15, upper = block.parts[8 + k % 4] >> k / 4 * 2 & 3;
  const float scale = scale_of(block.scale) * static_cast<float>((low | upper << 4) - 32);
  const uint8_t* const numbers = block.numbers + first / 128 * 32 + first % 32;
  Four y;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int number = (numbers[i] >> quarter % 4 * 2 & 3) | (block.high[first % 32 + i] >> quarter & 1) << 2;
    y.at[i] = scale * static_cast<float>(number - 4);
  }
  return y;
}

__device__ __forceinline__ Four dequantized(const BlockQ6K& block, uint32_t first) {
  const uint32_t half = first / 128, quarter = first / 32 % 4, at = first % 32;
  const uint8_t* const low = block.low + 64 * half + 32 * (quarter % 2) + at;
  const uint8_t* const high = block.high + 32 * half + at;
  const uint32_t low_shift = quarter < 2 ? 0 : 4, high_shift = 2 * quarter;
  const uint32_t part = first / 16;
  const float scale = scale_of(block.scale) * static_cast<float>(block.parts[part]);
  Four y;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int number = (low[i] >> low_shift & 15) | (high[i] >> high_shift & 3) << 4;
    y.at[i] = scale * static_cast<float>(number - 32);
  }
  return y;
}

template <class Block>
__device__ __forceinline__ void dequantize(const DequantizeParameters& p) {
  constexpr uint32_t in_block = Block::elements / 4;
  const bool is_aligned = p.to % 16 == 0;
  for (uint64_t i = thread_number(); i < p.count * in_block; i += thread_count()) {
    const uint64_t number = i / in_block;
    const auto first = static_cast<uint32_t>(i % in_block) * 4;
    const Four y = dequantized(pointer<const Block>(p.from)[offset_of(p.blocks, number)], first);
    if (is_aligned) {
      pointer<Four>(p.to)[i] = y;
      continue;
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) pointer<float>(p.to)[4 * i + static_cast<uint64_t>(k)] = y.at[k];
  }
}

}  // namespace
}  // namespace ferrule::cuda

using namespace ferrule::cuda;

#define DEQUANTIZE(dtype, Block) \
  FERRULE_KERNEL(dequantize_##dtype, DequantizeParameters, 256) { dequantize<Block>(p); }
DECODED_DTYPES(DEQUANTIZE)
