// Weights in blocks, repacked for products: the rows of w become columns that lie side by side.
//
// A panel has the blocks of `panel_columns` rows of w at the same place along k. It has as many bytes as the blocks, and
// is decoded by `part` elements of k at once, [part][panel_columns], without transposing.
#pragma once

#include "../conversion/block_decoding.h"
#include "../gemm.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

constexpr int64_t panel_columns = Tile<float>::columns;
constexpr int64_t part = 32;

using Lanes = hn::VFromD<Full<float>>;
using Words = hn::VFromD<Full<uint32_t>>;
constexpr int64_t lanes = lanes_of<float>;

// The integers 0 to 15 in the bits [shift, shift + 4) of each lane.
template <int shift>
HWY_INLINE Lanes nibbles(Words words) {
  const Full<float> d;
#if HWY_MAX_BYTES == 64
  // A permutation reads the lowest four bits of each index.
  alignas(64) static constexpr float numbers[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  const hn::Indices512<float> indices{hn::ShiftRight<shift>(words).raw};
  return hn::TableLookupLanes(hn::Load(d, numbers), indices);
#else
  const auto mask = hn::Set(Full<uint32_t>(), 15);
  return hn::ConvertTo(d, hn::BitCast(Full<int32_t>(), hn::And(hn::ShiftRight<shift>(words), mask)));
#endif
}

// Decodes `part` numbers of 4 bits: words[t][j] has elements 8 t to 8 t + 7 of column j. `finish(number, first)` gives
// the weights of the columns from `first` on.
template <class Finish>
HWY_INLINE void decode_nibbles(const uint32_t (*words)[panel_columns], float* w, Finish finish) {
  const Full<float> d;
  for (int64_t t = 0; t < part / 8; ++t)
    for (int64_t j = 0; j < panel_columns; j += lanes) {
      const auto word = hn::LoadU(Full<uint32_t>(), words[t] + j);
      float* const to = w + 8 * t * panel_columns + j;
      hn::StoreU(finish(nibbles<0>(word), j), d, to);
      hn::StoreU(finish(nibbles<4>(word), j), d, to + panel_columns);
      hn::StoreU(finish(nibbles<8>(word), j), d, to + 2 * panel_columns);
      hn::StoreU(finish(nibbles<12>(word), j), d, to + 3 * panel_columns);
      hn::StoreU(finish(nibbles<16>(word), j), d, to + 4 * panel_columns);
      hn::StoreU(finish(nibbles<20>(word), j), d, to + 5 * panel_columns);
      hn::StoreU(finish(nibbles<24>(word), j), d, to + 6 * panel_columns);
      hn::StoreU(finish(nibbles<28>(word), j), d, to + 7 * panel_columns);
    }
}

// The lower halves of 8 bytes, or the upper ones, as one word.
HWY_INLINE uint32_t word_of_halves(const uint8_t* bytes, int shift) {
  uint64_t word;
  __builtin_memcpy(&word, bytes, 8);
  word = word >> shift & 0x0f0f0f0f0f0f0f0f;
  word = (word | word >> 4) & 0x00ff00ff00ff00ff;
  word = (word | word >> 8) & 0x0000ffff0000ffff;
  return static_cast<uint32_t>(word | word >> 16);
}

// Any dtype. `is_scaled`: decode() gives weights that are to be multiplied by `scale`, one for each column.
template <DType dtype>
struct BlockPanel {
  static constexpr bool is_scaled = false;
  Block<dtype> blocks[panel_columns];

  void put(int64_t column, const Block<dtype>& block) { blocks[column] = block; }
  void decode(int64_t number, float* w, float*) const {
    for (int64_t j = 0; j < panel_columns; ++j) {
      float row[part];
      decode_part(blocks[j], number, row);
      for (int64_t i = 0; i < part; ++i) w[i * panel_columns + j] = row[i];
    }
  }
};

template <>
struct BlockPanel<DType::q4_0> {
  static constexpr bool is_scaled = true;
  Float16 scales[panel_columns];
  uint32_t words[part / 8][panel_columns];

  void put(int64_t column, const Block<DType::q4_0>& block) {
    scales[column] = block.scale;
    for (int64_t t = 0; t < 4; ++t) words[t][column] = word_of_halves(block.numbers + t % 2 * 8, t < 2 ? 0 : 4);
  }
  void decode(int64_t, float* w, float* scale) const {
    widen_all(scales, panel_columns, scale);
    const auto eight = hn::Set(Full<float>(), 8);
    decode_nibbles(words, w, [&](Lanes number, int64_t) { return hn::Sub(number, eight); });
  }
};

template <>
struct BlockPanel<DType::q8_0> {
  static constexpr bool is_scaled = true;
  Float16 scales[panel_columns];
  int8_t numbers[part][panel_columns];

  void put(int64_t column, const Block<DType::q8_0>& block) {
    scales[column] = block.scale;
    for (int64_t i = 0; i < part; ++i) numbers[i][column] = block.numbers[i];
  }
  void decode(int64_t, float* w, float* scale) const {
    widen_all(scales, panel_columns, scale);
    const Full<float> d;
    const Full<int32_t> di;
    const hn::Rebind<int8_t, Full<int32_t>> narrow;
    for (int64_t i = 0; i < part; ++i)
      for (int64_t j = 0; j < panel_columns; j += lanes)
        hn::StoreU(hn::ConvertTo(d, hn::PromoteTo(di, hn::LoadU(narrow, numbers[i] + j))), d,
                   w + i * panel_columns + j);
  }
};

template <>
struct BlockPanel<DType::q4_K> {
  static constexpr bool is_scaled = false;
  Float16 scales[panel_columns], leasts[panel_columns];
  uint8_t part_scales[8][panel_columns], part_leasts[8][panel_columns];
  uint32_t words[8][part / 8][panel_columns];

  void put(int64_t column, const Block<DType::q4_K>& block) {
    scales[column] = block.scale;
    leasts[column] = block.least;
    for (int64_t k = 0; k < 8; ++k) {
      part_scales[k][column] = static_cast<uint8_t>(part_scale(block.parts, k));
      part_leasts[k][column] = static_cast<uint8_t>(part_least(block.parts, k));
      for (int64_t t = 0; t < 4; ++t)
        words[k][t][column] = word_of_halves(block.numbers + k / 2 * 32 + 8 * t, k % 2 == 0 ? 0 : 4);
    }
  }
  void decode(int64_t number, float* w, float*) const {
    alignas(64) float s[panel_columns], m[panel_columns];
    widen_all(scales, panel_columns, s);
    widen_all(leasts, panel_columns, m);
    for (int64_t j = 0; j < panel_columns; ++j) {
      s[j] *= static_cast<float>(part_scales[number][j]);
      m[j] *= static_cast<float>(part_leasts[number][j]);
    }
    const Full<float> d;
    decode_nibbles(words[number], w, [&](Lanes q, int64_t j) {
      return hn::Sub(hn::Mul(q, hn::Load(d, s + j)), hn::Load(d, m + j));
    });
  }
};

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
