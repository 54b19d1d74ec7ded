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
// BLOCK(dtype, struct) for each block dtype that products read.
#define BLOCK_DTYPES(BLOCK) BLOCK(q8_0, BlockQ8_0) BLOCK(q4_0, BlockQ4_0) BLOCK(q4_K, BlockQ4K) BLOCK(q6_K, BlockQ6K)

struct DequantizeParameters {
  Address from, to;
  Layout blocks;       // of the array, in blocks
  uint64_t count;      // of groups of eight elements
  uint32_t dtype_row;  // of sdk::dtype_table
  uint32_t in_block;   // groups of a block
  uint32_t block_bytes, unused;
};

struct QuantizeParameters {
  Address from, to;
  Layout blocks;  // of the array: strides in elements
  uint64_t count;
};

}  // namespace ferrule::cuda
