// Block dtypes in the layout of GGUF files.
#pragma once

#include "half.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// A block of a dtype, as it lies in files; incomplete where kernels do not know the dtype. Multiples of two bytes are
// aligned to two bytes.
template <DType dtype>
struct Block;

// ---- One scale, numbers of 4, 5 or 8 bits. The lower halves of the bytes of `numbers` are the first 16 elements.
template <>
struct Block<DType::q4_0> {
  static constexpr int64_t elements = 32;
  Float16 scale;
  uint8_t numbers[16];
};
template <>
struct Block<DType::q4_1> {
  static constexpr int64_t elements = 32;
  Float16 scale, least;
  uint8_t numbers[16];
};
template <>
struct Block<DType::q5_0> {
  static constexpr int64_t elements = 32;
  Float16 scale;
  uint8_t high[4];  // the fifth bit of each element
  uint8_t numbers[16];
};
template <>
struct Block<DType::q5_1> {
  static constexpr int64_t elements = 32;
  Float16 scale, least;
  uint8_t high[4];
  uint8_t numbers[16];
};
template <>
struct Block<DType::q8_0> {
  static constexpr int64_t elements = 32;
  Float16 scale;
  int8_t numbers[32];
};

// ---- Parts of 16 or 32 elements, which have integers as scales.
template <>
struct Block<DType::q2_K> {
  static constexpr int64_t elements = 256;
  uint8_t parts[16];  // scale and minimum, of 4 bits
  uint8_t numbers[64];
  Float16 scale, least;
};
template <>
struct Block<DType::q3_K> {
  static constexpr int64_t elements = 256;
  uint8_t high[32];   // the third bit of each element
  uint8_t low[64];    // 2 bits of each
  uint8_t parts[12];  // 16 scales of 6 bits
  Float16 scale;
};
template <>
struct Block<DType::q4_K> {
  static constexpr int64_t elements = 256;
  Float16 scale, least;
  uint8_t parts[12];  // of each 32 elements a scale and a minimum of 6 bits
  uint8_t numbers[128];
};
template <>
struct Block<DType::q5_K> {
  static constexpr int64_t elements = 256;
  Float16 scale, least;
  uint8_t parts[12];
  uint8_t high[32];  // the fifth bit of each element
  uint8_t numbers[128];
};
template <>
struct Block<DType::q6_K> {
  static constexpr int64_t elements = 256;
  uint8_t low[128];  // 4 bits of each element
  uint8_t high[64];  // 2 bits of each
  int8_t parts[16];
  Float16 scale;
};

// ---- Indices of codebooks, whose entries are the magnitudes of 8 elements (iq3: 4), and signs.
template <>
struct Block<DType::iq1_s> {
  static constexpr int64_t elements = 256;
  Float16 scale;
  uint8_t low[32];   // 8 bits of each index
  uint16_t high[8];  // of each 32 elements 3 bits of each index, a scale of 3 bits and the sign of the offset
};
template <>
struct Block<DType::iq1_m> {
  static constexpr int64_t elements = 256;
  uint8_t low[32];    // 8 bits of each index
  uint8_t high[16];   // of each 8 elements 3 bits of the index and the sign of the offset
  uint16_t parts[4];  // 16 scales of 3 bits; the highest 4 bits of each word are those of the block's scale
};
template <>
struct Block<DType::iq2_xxs> {
  static constexpr int64_t elements = 256;
  Float16 scale;
  uint8_t parts[8][8];  // of each 32 elements 4 indices, then a word: 4 times 7 signs, and a scale of 4 bits
};
template <>
struct Block<DType::iq2_xs> {
  static constexpr int64_t elements = 256;
  Float16 scale;
  uint16_t numbers[32];  // indices of 9 bits, and 7 signs
  uint8_t parts[8];      // of each 16 elements a scale of 4 bits
};
template <>
struct Block<DType::iq2_s> {
  static constexpr int64_t elements = 256;
  Float16 scale;
  uint8_t low[32];  // 8 bits of each index
  uint8_t signs[32];
  uint8_t high[8];  // 2 bits of each index
  uint8_t parts[8];
};
template <>
struct Block<DType::iq3_xxs> {
  static constexpr int64_t elements = 256;
  Float16 scale;
  uint8_t numbers[64];  // indices
  uint8_t parts[8][4];  // of each 32 elements a word: 4 times 7 signs, and a scale of 4 bits
};
template <>
struct Block<DType::iq3_s> {
  static constexpr int64_t elements = 256;
  Float16 scale;
  uint8_t low[64];  // 8 bits of each index
  uint8_t high[8];  // the ninth
  uint8_t signs[32];
  uint8_t parts[4];  // of each 32 elements a scale of 4 bits
};

// ---- Numbers of 4 bits that stand for one of 16 values, and of fewer bits for -1, 0 and 1.
template <>
struct Block<DType::iq4_nl> {
  static constexpr int64_t elements = 32;
  Float16 scale;
  uint8_t numbers[16];
};
template <>
struct Block<DType::iq4_xs> {
  static constexpr int64_t elements = 256;
  Float16 scale;
  uint16_t high;   // of each 32 elements 2 bits of the scale
  uint8_t low[4];  // 4 bits of the scale
  uint8_t numbers[128];
};
template <>
struct Block<DType::mxfp4> {
  static constexpr int64_t elements = 32;
  uint8_t exponent;  // of the scale, a power of two
  uint8_t numbers[16];
};
template <>
struct Block<DType::nvfp4> {
  static constexpr int64_t elements = 64;
  uint8_t parts[4];  // the scale of each 16 elements, a float8_e4m3fn without sign
  uint8_t numbers[32];
};
template <>
struct Block<DType::tq1_0> {
  static constexpr int64_t elements = 256;
  uint8_t numbers[48];  // five elements each, in base 3
  uint8_t last[4];      // four each
  Float16 scale;
};
template <>
struct Block<DType::tq2_0> {
  static constexpr int64_t elements = 256;
  uint8_t numbers[64];
  Float16 scale;
};

template <DType dtype>
constexpr bool has_block = requires {
  sizeof(Block<dtype>);
};

template <DType dtype>
consteval bool has_layout(int64_t elements, size_t bytes) {
  if constexpr (has_block<dtype>) return Block<dtype>::elements == elements && sizeof(Block<dtype>) == bytes;
  return true;
}
#define FERRULE_BLOCK(id, elements, bytes, ...) static_assert(has_layout<DType::id>(elements, bytes));
FE_DTYPES(FE_NO_DTYPE, FERRULE_BLOCK)
#undef FERRULE_BLOCK

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
