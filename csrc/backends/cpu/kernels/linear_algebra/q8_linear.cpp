// x @ w.T with weights in blocks and rows of x that are rounded to blocks of q8_0 (q8_rows.h).
#include "q8_rows.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

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
      const bool are_finite = has_finite_columns<Panel>(columns_);
      if (are_finite) multiply_rows<FormOf<Panel>>(rows_.part_of_all(i), rows_.count(), columns_, c);
      if (!are_finite || !rows_.is_complete()) rows_.template add_left_out<dtype>(panels, i, !are_finite, c);
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
      const bool are_finite = has_finite_columns<Panel>(columns_);
      if (are_finite) row.add_to(sum);
      if (are_finite && rows_.is_complete()) continue;
      for_vectors_of_panel([&](auto v) { hn::Store(sum[v.value], d, c + v.value * lanes); });
      rows_.template add_left_out<dtype>(panels, i, !are_finite, c);
      for_vectors_of_panel([&](auto v) { sum[v.value] = hn::Load(d, c + v.value * lanes); });
    }
    for_vectors_of_panel([&](auto v) { hn::Store(sum[v.value], d, c + v.value * lanes); });
  }

  RoundedRows rows_;
  ColumnPart columns_;
};

template <DType dtype>
constexpr bool takes<Q8Rows, dtype> = has_block<dtype>&& has_integers<dtype>;

bool accepts(const Call& call) { return rounds_rows(call) && accepts_blocks<Q8Rows>(call); }

}  // namespace

KERNEL(q8_linear, .op = "linear", .revision = 2, .dtypes = f32, .layouts = {FE_LAYOUT_ANY, FE_LAYOUT_ROWS},
       .takes_epilogue = true, .accepts = accepts, .scratch_size = product_scratch_size,
       .local_scratch = product_local_scratch<Q8Rows>, .prepare_size = panels_size, .prepare = prepare_panels,
       .string_attributes = {offsetof(fe_linear_attributes, activation)}) {
  return multiply_blocks<Q8Rows>(call);
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
