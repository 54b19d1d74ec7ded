// Rows of x that are rounded to blocks of q8_0, and how their products with a part of weights in blocks are scaled.
//
// The integers of a part of 32 elements of k, or of 16 where a scale is for 16, are multiplied and summed exactly.
//
// Invariance: element (i, j) is, for each such part in order, the sum of the earlier parts, to which the rest of the
// weights times the sum of the part of x is added if there is one, and then the sum of products times the scale of x
// times that of w. So the bits do not depend on the other rows of x, nor on whether AMX multiplies. A part of which a
// scale in the panel is not finite is multiplied as float32 numbers.
#pragma once

#include "../conversion/q8_0_encoding.h"
#include "../op_attributes.h"
#include "block_product.h"
#include "byte_products.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

constexpr int64_t quads = 8;  // of a part
constexpr Full<int32_t> integers{};

// A part of a row of x: quads in the order of PackedNumbers, and the sum of each section, which has one scale of w.
struct RowPart {
  int32_t bytes[quads];
  float sums[2], scale;
};

// A part of a panel: [quad][panel_columns], and [section][panel_columns] of the others.
struct ColumnPart {
  uint32_t* bytes;
  float *scale, *rest, *centre;

  template <int v, int q>
  HWY_INLINE void add_quad(Words quad) {
    hn::Store(quad, Full<uint32_t>(), bytes + q * panel_columns + v * lanes);
  }
};

template <int section_count, bool with_rest, int offset, int greatest>
struct Form {
  static constexpr int sections = section_count, above = offset, largest = greatest;
  static constexpr bool has_rest = with_rest;

  static HWY_INLINE Integers first_sum(const RowPart& x, int section) {
    return hn::Set(integers, has_rest ? 0 : -above * static_cast<int32_t>(x.sums[section]));
  }
  static HWY_INLINE Integers add(Integers sum, Words bytes, int32_t x) {
    return add_byte_products<largest>(sum, bytes, hn::Set(integers, x));
  }
  // `before` + the product of a section, whose bytes have the products `sum`; `at`: its place in `w`.
  static HWY_INLINE Lanes add_scaled(Integers sum, const RowPart& x, int section, const ColumnPart& w, int64_t at,
                                     Lanes before) {
    const Full<float> d;
    const Lanes scale = hn::Set(d, x.scale);
    Lanes total = hn::ConvertTo(d, sum);
    if constexpr (has_rest) {
      const Lanes sum_of_x = hn::Set(d, x.sums[section]);
      total = hn::NegMulAdd(hn::Load(d, w.centre + at), sum_of_x, total);  // integers below 2^24
      before = hn::MulAdd(hn::Mul(sum_of_x, scale), hn::Load(d, w.rest + at), before);
    }
    return hn::MulAdd(hn::Mul(total, scale), hn::Load(d, w.scale + at), before);
  }
};
template <class Panel>
using FormOf = Form<Panel::scales_per_part, Panel::has_rest, Panel::Bytes::above, Panel::Bytes::largest>;

// Rows of x in blocks of q8_0.
class RoundedRows {
 public:
  // As many rows as stay in the second-level cache, and few enough for the threads to share.
  static int64_t together(const Product& p) {
    constexpr int64_t cache = 1 << 20, most = 128;
    const int64_t fitting = cache / (larger(1, p.k / part) * static_cast<int64_t>(sizeof(RowPart)));
    return smaller(p.m, larger(1, smaller(most, fitting) / 16) * 16);
  }

  RoundedRows(ScratchArena& scratch, const Product& product)
      : p_(product),
        parts_(scratch.array<RowPart>(together(product) * (product.k / part) +
                                      16)),  // a tile reads 16 rows, also past the last one
        given_part_(scratch.array<float>(part)),
        w_(scratch.array<float>(part * panel_columns)) {}

  int64_t count() const { return count_; }
  const RowPart* part_of_all(int64_t number) const { return parts_ + number * count_; }
  // Whether no part of a row is left out, as its scale is not finite.
  bool is_complete() const { return is_complete_; }

  // `x`: the first row
  void put(const float* x, int64_t count, int64_t sections) {
    given_ = x;
    count_ = count;
    is_complete_ = true;
    memset(parts_ + p_.k / part * count, 0, 16 * sizeof(RowPart));
    for (int64_t row = 0; row < count; ++row)
      for (int64_t number = 0; number < p_.k / part; ++number)
        put_part(rounded_part(row, number), sections, parts_[number * count + row]);
  }

  // Adds the products of part `number` along K with the rows that were left out, or with all.
  template <DType dtype>
  void add_left_out(const BlockPanel<dtype>* panels, int64_t number, bool are_all, float* c) {
    constexpr int64_t parts_of_block = Block<dtype>::elements / part;
    add_left_out(dtype, panels + number / parts_of_block, number % parts_of_block, number, are_all,
                 BlockPanel<dtype>::is_scaled, c);
  }

 private:
  using Rounded = Block<DType::q8_0>;
  static bool is_finite(float x) { return x - x == 0; }

  // `k`: the number of the part in the panel
  HWY_NOINLINE void add_left_out(DType dtype, const void* panel, int64_t k, int64_t number, bool are_all,
                                 bool is_scaled, float* c) {
    for (int64_t row = 0; row < count_; ++row) {
      const Rounded rounded = rounded_part(row, number);
      if (!are_all && is_finite(widen(rounded.scale))) continue;
      alignas(64) float x[part], scale[panel_columns];
      decode_part(rounded, 0, x);
      decode_floats(dtype, panel, k, w_, scale);
      (is_scaled ? multiply_part<1, true> : multiply_part<1, false>)(x, w_, scale, false, c + row * panel_columns);
    }
  }

  HWY_NOINLINE Rounded rounded_part(int64_t row, int64_t number) {
    const float* x = given_ + row * p_.a_row + number * part * p_.a_column;
    if (p_.a_column != 1) {
      for (int64_t i = 0; i < part; ++i) given_part_[i] = x[i * p_.a_column];
      x = given_part_;
    }
    Rounded rounded;
    quantize(x, rounded);
    return rounded;
  }
  void put_part(const Rounded& from, int64_t sections, RowPart& to) {
    to = {};
    if (!is_finite(widen(from.scale))) {
      is_complete_ = false;
      return;
    }
    to.scale = widen(from.scale);
    const hn::FixedTag<uint8_t, 16> d;
    const hn::FixedTag<uint64_t, 2> d64;
    for (int64_t i = 0; i < part; i += 16) {
      const auto bytes = hn::LoadU(d, reinterpret_cast<const uint8_t*>(from.numbers) + i);
      hn::StoreU(in_quads(bytes), d, reinterpret_cast<uint8_t*>(to.bytes) + i);
      const auto above = hn::SumsOf8(hn::Xor(bytes, hn::Set(d, 128)));  // each is 128 more
      to.sums[i * sections / part] +=
          static_cast<float>(static_cast<int32_t>(hn::GetLane(hn::SumOfLanes(d64, above))) - 16 * 128);
    }
  }

  const Product& p_;
  RowPart* parts_;  // [part][row]
  float *given_part_, *w_;
  const float* given_ = nullptr;
  int64_t count_ = 0;
  bool is_complete_ = true;
};

template <class Panel>
bool has_finite_columns(const ColumnPart& w) {
  return all_sections_finite<Panel::scales_per_part, Panel::has_rest>(w.scale, w.rest);
}

// Whether the rows are rounded to blocks of 8 bits.
inline bool rounds_rows(const Call& call) {
  const auto* const given = static_cast<const fe_linear_attributes*>(call.attributes);
  if (given == nullptr || given->struct_size < sizeof *given) return false;  // as in the op's first revision
  return given->activation != nullptr && given->activation[0] == 'q';
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
