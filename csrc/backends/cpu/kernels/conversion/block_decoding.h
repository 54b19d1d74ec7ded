// The weights of blocks, by parts of 32 elements. They follow ggml's formulas step by step in float32, and so give the
// same bits as its Python package (gguf.quants).
#pragma once

#include "../quantized_blocks.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

HWY_INLINE void decode_part(const Block<DType::q8_0>& block, int64_t, float* y) {
  const float scale = widen(block.scale);
  for (int64_t i = 0; i < 32; ++i) y[i] = scale * static_cast<float>(block.numbers[i]);
}

HWY_INLINE void decode_part(const Block<DType::q4_0>& block, int64_t, float* y) {
  const float scale = widen(block.scale);
  for (int64_t i = 0; i < 16; ++i) {
    y[i] = scale * static_cast<float>((block.numbers[i] & 15) - 8);
    y[i + 16] = scale * static_cast<float>((block.numbers[i] >> 4) - 8);
  }
}

// The 6-bit value of part `k`. Those of the first four parts are in one byte, the others in two.
constexpr int part_scale(const uint8_t* parts, int64_t k) {
  return k < 4 ? parts[k] & 63 : (parts[k + 4] & 15) | (parts[k - 4] >> 2 & 48);
}
constexpr int part_least(const uint8_t* parts, int64_t k) {
  return k < 4 ? parts[k + 4] & 63 : parts[k + 4] >> 4 | (parts[k] >> 2 & 48);
}

HWY_INLINE void decode_part(const Block<DType::q4_K>& block, int64_t k, float* y) {
  const float s = widen(block.scale) * static_cast<float>(part_scale(block.parts, k));
  const float m = widen(block.least) * static_cast<float>(part_least(block.parts, k));
  const uint8_t* numbers = block.numbers + k / 2 * 32;
  const int shift = k % 2 == 0 ? 0 : 4;
  for (int64_t i = 0; i < 32; ++i) y[i] = s * static_cast<float>(numbers[i] >> shift & 15) - m;
}

HWY_INLINE void decode_part(const Block<DType::q6_K>& block, int64_t k, float* y) {
  const float scale = widen(block.scale);
  const int64_t half = k / 4, quarter = k % 4;
  const uint8_t* low = block.low + 64 * half + 32 * (quarter % 2);
  const uint8_t* high = block.high + 32 * half;
  const int low_shift = quarter < 2 ? 0 : 4, high_shift = static_cast<int>(2 * quarter);
  const float scales[] = {scale * static_cast<float>(block.parts[2 * k]),
                          scale * static_cast<float>(block.parts[2 * k + 1])};
  for (int64_t i = 0; i < 32; ++i) {
    const int number = (low[i] >> low_shift & 15) | (high[i] >> high_shift & 3) << 4;
    y[i] = scales[i / 16] * static_cast<float>(number - 32);
  }
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
