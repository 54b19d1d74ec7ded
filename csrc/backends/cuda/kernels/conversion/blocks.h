// Block dtypes in the layout of GGUF files, and the parameters of dequantize.cu and quantize.cu.
#pragma once

#include "parameters/common.h"

namespace ferrule::cuda {

// Scales are float16. Blocks are aligned to 2 bytes.
struct BlockQ8_0 {
  static constexpr uint32_t elements = 32;
  uint16_t scale;
  int8_t numbers[32];
};
// The lower halves of the bytes are the first 16 elements.
struct BlockQ4_0 {
  static constexpr uint32_t elements = 32;
  uint16_t scale;
  uint8_t numbers[16];
};
// Eight parts of 32 elements, each with a scale and a minimum of 6 bits.
struct BlockQ4K {
  static constexpr uint32_t elements = 256;
  uint16_t scale, least;
  uint8_t parts[12];
  uint8_t numbers[128];
};
// Sixteen parts of 16 elements, each with a scale.
struct BlockQ6K {
  static constexpr uint32_t elements = 256;
  uint8_t low[128];  // 4 bits of each element
  uint8_t high[64];  // 2 bits of each
  int8_t parts[16];
  uint16_t scale;
};
// `high`: bit i is the highest of element i.
struct BlockQ5_0 {
  static constexpr uint32_t elements = 32;
  uint16_t scale;
  uint8_t high[4], numbers[16];
};
struct BlockQ4_1 {
  static constexpr uint32_t elements = 32;
  uint16_t scale, least;
  uint8_t numbers[16];
};
struct BlockQ5_1 {
  static constexpr uint32_t elements = 32;
  uint16_t scale, least;
  uint8_t high[4], numbers[16];
};
// As BlockQ4K; bit k of a byte of `high` is the highest of an element of part k.
struct BlockQ5K {
  static constexpr uint32_t elements = 256;
  uint16_t scale, least;
  uint8_t parts[12];
  uint8_t high[32];
  uint8_t numbers[128];
};
// Sixteen parts of 16 elements, each with a scale and a minimum of 4 bits.
struct BlockQ2K {
  static constexpr uint32_t elements = 256;
  uint8_t parts[16];
  uint8_t numbers[64];
  uint16_t scale, least;
};
// Sixteen parts of 16 elements, each with a scale of 6 bits.
struct BlockQ3K {
  static constexpr uint32_t elements = 256;
  uint8_t high[32];     // 1 bit of each element
  uint8_t numbers[64];  // 2 bits of each
  uint8_t parts[12];
  uint16_t scale;
};
// BLOCK(dtype, struct) for each block dtype that products read, and for each that is decoded.
#define BLOCK_DTYPES(BLOCK) BLOCK(q8_0, BlockQ8_0) BLOCK(q4_0, BlockQ4_0) BLOCK(q4_K, BlockQ4K) BLOCK(q6_K, BlockQ6K)
#define DECODED_DTYPES(BLOCK) \
  BLOCK_DTYPES(BLOCK)         \
  BLOCK(q4_1, BlockQ4_1)      \
  BLOCK(q5_0, BlockQ5_0)      \
  BLOCK(q5_1, BlockQ5_1) BLOCK(q2_K, BlockQ2K) BLOCK(q3_K, BlockQ3K) BLOCK(q5_K, BlockQ5K)
static_assert(sizeof(BlockQ4_1) == 20 && sizeof(BlockQ5_0) == 22 && sizeof(BlockQ5_1) == 24);
static_assert(sizeof(BlockQ2K) == 84 && sizeof(BlockQ3K) == 110 && sizeof(BlockQ5K) == 176);

struct DequantizeParameters {
  Address from, to;
  Layout blocks;  // of the array, in blocks
  uint64_t count;
};

struct QuantizeParameters {
  Address from, to;
  Layout blocks;  // of the array: strides in elements
  uint64_t count;
};

}  // namespace ferrule::cuda
