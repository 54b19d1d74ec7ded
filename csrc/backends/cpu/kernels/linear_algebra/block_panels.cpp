// Panels of blocks: how they are made, and their weights as float32.
#include "column_call.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// w[part][panel_columns]
struct StoredWeights {
  float *w, *scale;

  template <int v>
  HWY_INLINE void add(Lanes weights, int64_t element) {
    hn::Store(weights, Full<float>(), w + element * panel_columns + v * lanes);
  }
};

// Makes weights of the numbers whose scale is not finite: an infinity times 0 is NaN.
void apply_infinite_scales(float* w, float* scale) {
  if (all_finite(scale)) return;
  for (int64_t j = 0; j < panel_columns; ++j) {
    if (scale[j] - scale[j] == 0) continue;
    for (int64_t i = 0; i < part; ++i) w[i * panel_columns + j] *= scale[j];
    scale[j] = 1;
  }
}

template <DType dtype>
void fill(const Block<dtype>* w, int64_t row_blocks, int64_t blocks, int64_t columns, BlockPanel<dtype>* to) {
  static constexpr Block<dtype> zeros{};
  for (int64_t at = 0; at < blocks; ++at)
    for (int64_t first = 0; first < panel_columns; first += 4) {
      const Block<dtype>* four[4];
      for (int64_t c = 0; c < 4; ++c) {
        four[c] = first + c < columns ? &w[(first + c) * row_blocks + at] : &zeros;
        to[at].put(first + c, *four[c]);
      }
      if constexpr (requires { to->packed; }) to[at].packed.put(first, four);
    }
}

}  // namespace

void fill_panels(DType dtype, const void* w, int64_t row_blocks, int64_t blocks, int64_t columns, void* panels) {
  with_block_dtype(dtype, [&](auto constant) {
    constexpr DType kind = static_cast<DType>(constant.value);
    fill(static_cast<const Block<kind>*>(w), row_blocks, blocks, columns, static_cast<BlockPanel<kind>*>(panels));
  });
}

void decode_floats(DType dtype, const void* panel, int64_t k, float* w, float* scale) {
  with_block_dtype(dtype, [&](auto constant) {
    using Panel = BlockPanel<static_cast<DType>(constant.value)>;
    StoredWeights sink{w, scale};
    static_cast<const Panel*>(panel)->decode(k, sink);
    if constexpr (Panel::is_scaled) apply_infinite_scales(w, scale);
  });
}

uint64_t panels_size(const Call& call, uint32_t input, char* key, size_t key_capacity) {
  if (input != 1) return 0;
  const ColumnProduct product(call);
  const Product& p = product.p;
  if (!p.shared_b || p.k == 0 || p.n == 0) return 0;
  snprintf(key, key_capacity, "linear/panels%d/%d/k%lld/n%lld:%lld", static_cast<int>(panel_columns),
           static_cast<int>(call.in[1].dtype), static_cast<long long>(p.k), static_cast<long long>(p.n),
           static_cast<long long>(p.b_column));
  uint64_t bytes = 0;
  with_block_dtype(call.in[1].dtype, [&](auto constant) {
    constexpr DType kind = static_cast<DType>(constant.value);
    bytes = static_cast<uint64_t>(panels_of(p) * (p.k / Block<kind>::elements)) * sizeof(BlockPanel<kind>);
  });
  return bytes;
}

void prepare_panels(const Call& call, uint32_t, void* to) {
  const ColumnProduct product(call);
  const Product& p = product.p;
  with_block_dtype(call.in[1].dtype, [&](auto constant) {
    constexpr DType kind = static_cast<DType>(constant.value);
    constexpr int64_t elements = Block<kind>::elements;
    const auto* const from = reinterpret_cast<const Block<kind>*>(call.in[1].data);
    auto* panel = static_cast<BlockPanel<kind>*>(to);
    for (int64_t first = 0; first < p.n; first += panel_columns, panel += p.k / elements)
      fill_panels(kind, from + first * p.b_column / elements, p.b_column / elements, p.k / elements,
                  smaller(panel_columns, p.n - first), panel);
  });
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
