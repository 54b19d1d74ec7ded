// Weights in blocks, repacked for products: the rows of w become columns that lie side by side.
//
// A panel has the blocks of `panel_columns` rows of w at the same place along k. It has about as many bytes as the
// blocks, and is decoded by `part` elements of k at once without transposing.
#pragma once

#include "panel_kinds.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// Any dtype.
template <DType dtype>
struct BlockPanel {
  static constexpr bool is_scaled = false;
  Block<dtype> blocks[panel_columns];

  void put(int64_t column, const Block<dtype>& block) { blocks[column] = block; }
  template <class Sink>
  void decode(int64_t number, Sink& sink) const {
    alignas(64) float w[part][panel_columns];
    for (int64_t j = 0; j < panel_columns; ++j) {
      float row[part];
      decode_part(blocks[j], number, row);
      for (int64_t i = 0; i < part; ++i) w[i][j] = row[i];
    }
    for (int64_t i = 0; i < part; ++i)
      for_vectors_of_panel(
          [&](auto v) { sink.template add<v.value>(hn::Load(Full<float>(), w[i] + v.value * lanes), i); });
  }
};

struct Iq1Values {  // the fourth bit is the next number's
  static constexpr int at(int i) { return iq1_values[i % 8]; }
};
struct Iq2Values {
  static constexpr int at(int i) { return iq2_values[i % 8]; }
};
struct Iq3XxsValues {
  static constexpr int at(int i) { return iq3_xxs_values[i]; }
};
struct Iq3SValues {
  static constexpr int at(int i) { return iq3_s_values[i]; }
};
struct Iq4Values {
  static constexpr int at(int i) { return iq4_values[i]; }
};
template <>
struct BlockPanel<DType::q4_0> : ScaledPanel<DType::q4_0, 4, Offset<4, 8>> {};
template <>
struct BlockPanel<DType::q5_0> : ScaledPanel<DType::q5_0, 5, Offset<5, 16>> {};
template <>
struct BlockPanel<DType::q8_0> : ScaledPanel<DType::q8_0, 8, Offset<8, 128>> {};
template <>
struct BlockPanel<DType::iq4_nl> : ScaledPanel<DType::iq4_nl, 4, OneOf16<Iq4Values>> {};
template <>
struct BlockPanel<DType::tq1_0> : ScaledPanel<DType::tq1_0, 2, Offset<2, 1>> {};
template <>
struct BlockPanel<DType::tq2_0> : ScaledPanel<DType::tq2_0, 2, Offset<2, 1>> {};

template <>
struct BlockPanel<DType::q4_1> : LeastPanel<DType::q4_1, 4> {};
template <>
struct BlockPanel<DType::q5_1> : LeastPanel<DType::q5_1, 5> {};
template <>
struct BlockPanel<DType::q2_K> : PartLeastPanel<DType::q2_K, 2, 16, true> {};
template <>
struct BlockPanel<DType::q4_K> : PartLeastPanel<DType::q4_K, 4, 32, false> {};
template <>
struct BlockPanel<DType::q5_K> : PartLeastPanel<DType::q5_K, 5, 32, false> {};

template <>
struct BlockPanel<DType::q3_K> : PartScaledPanel<DType::q3_K, 3, 16, Offset<3, 4>> {};
template <>
struct BlockPanel<DType::q6_K> : PartScaledPanel<DType::q6_K, 6, 16, Offset<6, 32>> {};
template <>
struct BlockPanel<DType::iq4_xs> : PartScaledPanel<DType::iq4_xs, 4, 32, OneOf16<Iq4Values>> {};

// Codes instead of indices: 3 bits for each element of iq1 and iq2, 4 bits for those of iq3.
template <>
struct BlockPanel<DType::iq1_s> : PartScaledPanel<DType::iq1_s, 3, 32, OneOf16<Iq1Values>> {};
template <>
struct BlockPanel<DType::iq1_m> : PartScaledPanel<DType::iq1_m, 3, 16, OneOf16<Iq1Values>> {};
template <>
struct BlockPanel<DType::iq2_xxs> : PartScaledPanel<DType::iq2_xxs, 3, 32, OneOf16<Iq2Values>> {};
template <>
struct BlockPanel<DType::iq2_xs> : PartScaledPanel<DType::iq2_xs, 3, 16, OneOf16<Iq2Values>> {};
template <>
struct BlockPanel<DType::iq2_s> : PartScaledPanel<DType::iq2_s, 3, 16, OneOf16<Iq2Values>> {};
template <>
struct BlockPanel<DType::iq3_xxs> : PartScaledPanel<DType::iq3_xxs, 4, 32, OneOf16<Iq3XxsValues>> {};
template <>
struct BlockPanel<DType::iq3_s> : PartScaledPanel<DType::iq3_s, 4, 32, OneOf16<Iq3SValues>> {};

struct Mxfp4Scale {
  static uint8_t byte(const Block<DType::mxfp4>& block, int64_t) { return block.exponent; }
  static HWY_INLINE float value(uint8_t exponent) { return half_power(exponent); }
};
struct Nvfp4Scale {
  static uint8_t byte(const Block<DType::nvfp4>& block, int64_t i) { return block.parts[i]; }
  static HWY_INLINE float value(uint8_t scale) { return half_float8(scale); }
};
template <>
struct BlockPanel<DType::mxfp4> : ByteScaledPanel<DType::mxfp4, 32, Mxfp4Scale> {};
template <>
struct BlockPanel<DType::nvfp4> : ByteScaledPanel<DType::nvfp4, 16, Nvfp4Scale> {};

// Whether the numbers of all columns are finite.
inline bool all_finite(const float* scale) {
  const Full<float> d;
  return hn::AllTrue(d, hn::And(hn::IsFinite(hn::Load(d, scale)), hn::IsFinite(hn::Load(d, scale + lanes))));
}

// Whether the numbers of [section][panel_columns] are finite, and with `has_rest` also as many numbers of `rest`.
template <int64_t sections, bool has_rest>
bool all_sections_finite(const float* scale, const float* rest) {
  bool are_all = true;
  for (int64_t j = 0; j < sections * panel_columns; j += panel_columns)
    are_all = are_all && all_finite(scale + j) && (!has_rest || all_finite(rest + j));
  return are_all;
}

// Whether the weights of a dtype are integers that are scaled, with or without a rest.
template <DType dtype>
constexpr bool has_integers = requires {
  BlockPanel<dtype>::scales_per_part;
};

}  // namespace

// ---- In block_panels.cpp, once for all kernels

// Repacks the blocks along k of up to panel_columns rows of w into panels.
void fill_panels(DType dtype, const void* w, int64_t row_blocks, int64_t blocks, int64_t columns, void* panels);

// Part k of a panel as w[part][panel_columns]: weights, or with `is_scaled` numbers to be multiplied by `scale`, which
// then are finite.
void decode_floats(DType dtype, const void* panel, int64_t k, float* w, float* scale);

// The panels of all weights of a call.
uint64_t panels_size(const Call& call, uint32_t input, char* key, size_t key_capacity);
void prepare_panels(const Call& call, uint32_t input, void* to);

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
