// x @ w.T with weights in blocks and rows of x that are rounded to blocks of q8_0.
//
// The integers of a part of 32 elements of k, or of 16 where a scale is for 16, are multiplied and summed exactly.
//
// Invariance: element (i, j) is, for each such part in order, the sum of the earlier parts, to which the rest of the
// weights times the sum of the part of x is added if there is one, and then the sum of products times the scale of x
// times that of w. So the bits do not depend on the other rows of x. A part of which a scale in the panel is not finite
// is multiplied as float32 numbers.
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
  int32_t sums[2];
  float scale;
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
    return hn::Set(integers, has_rest ? 0 : -above * x.sums[section]);
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
      const Lanes sum_of_x = hn::Set(d, static_cast<float>(x.sums[section]));
      total = hn::NegMulAdd(hn::Load(d, w.centre + at), sum_of_x, total);  // integers below 2^24
      before = hn::MulAdd(hn::Mul(sum_of_x, scale), hn::Load(d, w.rest + at), before);
    }
    return hn::MulAdd(hn::Mul(total, scale), hn::Load(d, w.scale + at), before);
  }
};
template <class Panel>
using FormOf = Form<Panel::scales_per_part, Panel::has_rest, Panel::Bytes::above, Panel::Bytes::largest>;

// The products of a part of one row, from registers.
template <class Form>
struct OneRow : ColumnPart {
  const RowPart& x;
  Integers sum[Form::sections][vectors];

  HWY_INLINE OneRow(const ColumnPart& w, const RowPart& row) : ColumnPart(w), x(row) {
    for (int s = 0; s < Form::sections; ++s)
      for (Integers& each : sum[s]) each = Form::first_sum(x, s);
  }
  template <int v, int q>
  HWY_INLINE void add_quad(Words bytes) {
    Integers& to = sum[q * Form::sections / quads][v];
    to = Form::add(to, bytes, x.bytes[q]);
  }
  HWY_INLINE void add_to(Lanes* c) const {
    for_vectors_of_panel([&](auto v) {
      for (int s = 0; s < Form::sections; ++s)
        c[v.value] = Form::add_scaled(sum[s][v.value], x, s, *this, s * panel_columns + v.value * lanes, c[v.value]);
    });
  }
};

// c[rows][panel_columns] += the products of a part.
template <int rows, class Form>
HWY_INLINE void multiply_rows(const RowPart* x, const ColumnPart& w, float* c) {
  const Full<float> d;
  const Full<uint32_t> du;
  for (int s = 0; s < Form::sections; ++s) {
    constexpr int per_section = quads / Form::sections;
    Integers sum[rows][vectors];
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i) sum[i][0] = sum[i][1] = Form::first_sum(x[i], s);
    for (int q = s * per_section; q < (s + 1) * per_section; ++q) {
      const uint32_t* const bytes = w.bytes + q * panel_columns;
      const Words w0 = hn::Load(du, bytes), w1 = hn::Load(du, bytes + lanes);
#pragma GCC unroll 8
      for (int i = 0; i < rows; ++i) {
        sum[i][0] = Form::add(sum[i][0], w0, x[i].bytes[q]);
        sum[i][1] = Form::add(sum[i][1], w1, x[i].bytes[q]);
      }
    }
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 2
      for (int v = 0; v < vectors; ++v) {
        float* const to = c + i * panel_columns + v * lanes;
        const int64_t at = s * panel_columns + v * lanes;
        hn::Store(Form::add_scaled(sum[i][v], x[i], s, w, at, hn::Load(d, to)), d, to);
      }
  }
}
constexpr int tall = HWY_MAX_BYTES == 64 ? 8 : 4;  // rows whose sums the registers hold
template <class Form>
HWY_NOINLINE void multiply_rows(const RowPart* x, int64_t rows, const ColumnPart& w, float* c) {
  for (; rows >= tall; rows -= tall, x += tall, c += tall * panel_columns) multiply_rows<tall, Form>(x, w, c);
  for (; rows >= 2; rows -= 2, x += 2, c += 2 * panel_columns) multiply_rows<2, Form>(x, w, c);
  if (rows > 0) multiply_rows<1, Form>(x, w, c);
}

// Rows of x in blocks of q8_0.
class RoundedRows {
 public:
  // As many rows as stay in the second-level cache, and few enough for the threads to share.
  static int64_t together(const Product& p) {
    constexpr int64_t cache = 1 << 20, most = 128;
    const int64_t fitting = cache / (larger(1, p.k / part) * static_cast<int64_t>(sizeof(RowPart)));
    return smaller(p.m, larger(1, smaller(most, fitting) / tall) * tall);
  }

  RoundedRows(ScratchArena& scratch, const Product& product)
      : p_(product),
        parts_(scratch.array<RowPart>(together(product) * (product.k / part))),
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
    for (int64_t number = 0; number < p_.k / part; ++number)
      for (int64_t row = 0; row < count; ++row)
        put_part(rounded_part(row, number), sections, parts_[number * count + row]);
  }

  // Adds the products of part `number` along K, which is part k of the panel, with the rows that were left out, or with
  // all.
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

 private:
  using Rounded = Block<DType::q8_0>;
  static bool is_finite(float x) { return x - x == 0; }

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
    int8_t bytes[part];
    for (int64_t i = 0; i < part; i += 8) {
      constexpr int64_t order[8] = {0, 4, 1, 5, 2, 6, 3, 7};
      for (int64_t j = 0; j < 8; ++j) bytes[i + j] = from.numbers[i + order[j]];
    }
    memcpy(to.bytes, bytes, part);
    for (int64_t i = 0; i < part; ++i) to.sums[i * sections / part] += from.numbers[i];
  }

  const Product& p_;
  RowPart* parts_;  // [part][row]
  float *given_part_, *w_;
  const float* given_ = nullptr;
  int64_t count_ = 0;
  bool is_complete_ = true;
};

template <DType dtype>
class Q8Rows {
 public:
  using Panel = BlockPanel<dtype>;

  static int64_t together(const Product& p) { return RoundedRows::together(p); }
  Q8Rows(ScratchArena& scratch, const Product& product) : rows_(scratch, product) {
    columns_ = {scratch.array<uint32_t>(quads * panel_columns), scratch.array<float>(sections * panel_columns),
                scratch.array<float>(sections * panel_columns), scratch.array<float>(sections * panel_columns)};
  }
  void pack_rows(const float* x, int64_t rows) { rows_.put(x, rows, sections); }

  void multiply(const Panel* panels, int64_t blocks, float* c) {
    memset(c, 0, static_cast<size_t>(rows_.count() * panel_columns) * sizeof(float));
    if (rows_.count() == 1) return multiply_row(panels, blocks * parts_of_block, c);
    for (int64_t i = 0; i < blocks * parts_of_block; ++i) {
      panels[i / parts_of_block].decode_bytes(i % parts_of_block, columns_);
      const bool are_finite = has_finite_columns();
      if (are_finite) multiply_rows<FormOf<Panel>>(rows_.part_of_all(i), rows_.count(), columns_, c);
      if (!are_finite || !rows_.is_complete()) add_left_out(panels, i, !are_finite, c);
    }
  }

 private:
  static constexpr int64_t sections = Panel::scales_per_part, parts_of_block = Block<dtype>::elements / part;

  void multiply_row(const Panel* panels, int64_t parts, float* c) {
    const Full<float> d;
    Lanes sum[vectors] = {hn::Zero(d), hn::Zero(d)};
    for (int64_t i = 0; i < parts; ++i) {
      prefetch_parts(panels, i, parts_of_block);
      OneRow<FormOf<Panel>> row(columns_, *rows_.part_of_all(i));
      panels[i / parts_of_block].decode_bytes(i % parts_of_block, row);
      const bool are_finite = has_finite_columns();
      if (are_finite) row.add_to(sum);
      if (are_finite && rows_.is_complete()) continue;
      for_vectors_of_panel([&](auto v) { hn::Store(sum[v.value], d, c + v.value * lanes); });
      add_left_out(panels, i, !are_finite, c);
      for_vectors_of_panel([&](auto v) { sum[v.value] = hn::Load(d, c + v.value * lanes); });
    }
    for_vectors_of_panel([&](auto v) { hn::Store(sum[v.value], d, c + v.value * lanes); });
  }
  void add_left_out(const Panel* panels, int64_t number, bool are_all, float* c) {
    rows_.add_left_out(dtype, panels + number / parts_of_block, number % parts_of_block, number, are_all,
                       Panel::is_scaled, c);
  }
  bool has_finite_columns() const {
    return all_sections_finite<sections, Panel::has_rest>(columns_.scale, columns_.rest);
  }

  RoundedRows rows_;
  ColumnPart columns_;
};

template <DType dtype>
constexpr bool takes<Q8Rows, dtype> = has_block<dtype>&& has_integers<dtype>;

// Whether the rows are rounded to blocks of 8 bits.
bool rounds_rows(const Call& call) {
  const auto* const given = static_cast<const fe_linear_attributes*>(call.attributes);
  if (given == nullptr || given->struct_size < sizeof *given) return false;  // as in the op's first revision
  return given->activation != nullptr && given->activation[0] == 'q';
}
bool accepts(const Call& call) { return rounds_rows(call) && accepts_blocks<Q8Rows>(call); }

}  // namespace

KERNEL(q8_linear, .op = "linear", .revision = 2, .dtypes = f32, .layouts = {FE_LAYOUT_ANY, FE_LAYOUT_ROWS},
       .takes_epilogue = true, .accepts = accepts, .scratch_size = product_scratch_size,
       .local_scratch = product_local_scratch<Q8Rows>, .prepare_size = panels_size, .prepare = prepare_panels,
       .string_attributes = {offsetof(fe_linear_attributes, activation)}) {
  return multiply_blocks<Q8Rows>(call);
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
