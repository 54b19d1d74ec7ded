// x @ w.T with weights in blocks, which are decoded into the cache, 32 elements of k for a panel of columns at a time.
//
// Invariance: element (i, j) is, for each part of 32 elements of k in order, a chain of multiply-adds from zero along
// k, which is scaled and added to the sum of the earlier parts. So the bits depend on row i of x, row j of w and K
// alone.
#include "block_product.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

constexpr int64_t most_rows = Tile<float>::rows;

using PartFunction = void (*)(const float* a, const float* w, const float* scale, bool is_first, float* c);
template <bool is_scaled, int... rows>
constexpr PartFunction part_function(int64_t count, Number<rows>...) {
  PartFunction found = nullptr;
  ((count == rows ? static_cast<void>(found = multiply_part<rows, is_scaled>) : static_cast<void>(0)), ...);
  return found;
}
template <bool is_scaled>
PartFunction part_function_for(int64_t rows) {
#if HWY_MAX_BYTES >= 64
  return part_function<is_scaled>(rows, Number<1>{}, Number<2>{}, Number<3>{}, Number<4>{}, Number<5>{}, Number<6>{},
                                  Number<7>{}, Number<8>{}, Number<9>{}, Number<10>{}, Number<11>{}, Number<12>{},
                                  Number<13>{}, Number<14>{});
#elif HWY_MAX_BYTES >= 32
  return part_function<is_scaled>(rows, Number<1>{}, Number<2>{}, Number<3>{}, Number<4>{}, Number<5>{}, Number<6>{});
#else
  return part_function<is_scaled>(rows, Number<1>{}, Number<2>{}, Number<3>{}, Number<4>{});
#endif
}

// float32 rows in tiles of equal height: [part][tile][32][rows of the tile].
template <DType dtype>
class FloatRows {
 public:
  using Panel = BlockPanel<dtype>;

  // As many rows as stay in the second-level cache.
  static int64_t together(const Product& p) {
    constexpr int64_t cache = 1 << 20;
    const int64_t tiles = larger(1, smaller(9, cache / (larger(1, p.k) * 4 * most_rows)));
    return smaller(p.m, tiles * most_rows);
  }

  FloatRows(ScratchArena& scratch, const Product& product)
      : p_(product),
        x_(scratch.array<float>(together(product) * product.k)),
        w_(scratch.array<float>(part * panel_columns)),
        scale_(scratch.array<float>(panel_columns)) {}

  void pack_rows(const float* x, int64_t rows) {
    rows_ = rows;
    tall_ = even_rows<float>(rows);
    const int64_t short_rows = rows % tall_;
    whole_ = part_function_for<Panel::is_scaled>(tall_);
    last_ = part_function_for<Panel::is_scaled>(short_rows == 0 ? tall_ : short_rows);
    float* to = x_;
    for (int64_t k = 0; k < p_.k; k += part)
      for (int64_t row = 0; row < rows; row += tall_) {
        const int64_t many = smaller(tall_, rows - row);
        pack<float, false>(x + row * p_.a_row + k * p_.a_column, p_.a_row, p_.a_column, many, smaller(part, p_.k - k),
                           to, many);
        to += many * part;
      }
  }

  void multiply(const Panel* panels, int64_t blocks, float* c) const {
    if (blocks == 0) memset(c, 0, static_cast<size_t>(rows_ * panel_columns) * sizeof(float));
    constexpr int64_t parts = Block<dtype>::elements / part;
    for (int64_t i = 0; i < blocks * parts; ++i) multiply_part_of(panels[i / parts], i % parts, i, c);
  }

 private:
  // `number`: of the part along K
  void multiply_part_of(const Panel& panel, int64_t k, int64_t number, float* c) const {
    const float* a = x_ + number * rows_ * part;
    const bool is_first = number == 0;
    if (rows_ == 1 && add_row(panel, k, a, is_first, c)) return;
    decode_floats(dtype, &panel, k, w_, scale_);
    for (int64_t row = 0; row < rows_; row += tall_) {
      const bool is_last = row + tall_ >= rows_;
      (is_last ? last_ : whole_)(a, w_, scale_, is_first, c + row * panel_columns);
      a += smaller(tall_, rows_ - row) * part;
    }
  }

  // Adds the products of a part with one row, by the operations of multiply_part. Returns false, and adds nothing, if a
  // scale is not finite.
  bool add_row(const Panel& panel, int64_t k, const float* a, bool is_first, float* c) const {
    const Full<float> d;
    RowProducts sink(a, scale_);
    prefetch_parts(&panel, k, Block<dtype>::elements / part);
    panel.decode(k, sink);
    if (Panel::is_scaled && !all_finite(scale_)) return false;
    for_vectors_of_panel([&](auto v) {
      float* const to = c + v.value * lanes;
      const Lanes before = is_first ? hn::Zero(d) : hn::Load(d, to);
      if constexpr (Panel::is_scaled)
        hn::Store(hn::MulAdd(sink.sum[v.value], hn::Load(d, scale_ + v.value * lanes), before), d, to);
      else
        hn::Store(hn::Add(sink.sum[v.value], before), d, to);
    });
    return true;
  }

  const Product& p_;
  float *x_, *w_, *scale_;
  int64_t rows_ = 0, tall_ = 0;
  PartFunction whole_ = nullptr, last_ = nullptr;
};

}  // namespace

KERNEL(linear, .dtypes = f32, .layouts = {FE_LAYOUT_ANY, FE_LAYOUT_ROWS}, .takes_epilogue = true,
       .accepts = accepts_blocks<FloatRows>, .scratch_size = product_scratch_size,
       .local_scratch = product_local_scratch<FloatRows>, .prepare_size = panels_size, .prepare = prepare_panels) {
  return multiply_blocks<FloatRows>(call);
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
