// x @ w.T with weights in blocks, which are decoded into the cache, 32 elements of k for a panel of columns at a time.
//
// Invariance: element (i, j) is, for each part of 32 elements of k in order, a chain of multiply-adds from zero along
// k, which is scaled and added to the sum of the earlier parts. So the bits depend on row i of x, row j of w and K
// alone.
#include "block_panels.h"
#include "matmul_shape.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

constexpr int64_t most_rows = Tile<float>::rows;

// c[rows][panel_columns] (+)= scale * (a[part][rows] @ w[part][panel_columns]). Without `is_scaled` there is no scale.
template <int rows, bool is_scaled>
HWY_NOINLINE void multiply_part(const float* HWY_RESTRICT a, const float* HWY_RESTRICT w,
                                const float* HWY_RESTRICT scale, bool is_first, float* HWY_RESTRICT c) {
  const Full<float> d;
  Lanes sum[rows][2];
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) sum[i][0] = sum[i][1] = hn::Zero(d);
  for (int64_t k = 0; k < part; ++k, a += rows, w += panel_columns) {
    const Lanes w0 = hn::Load(d, w), w1 = hn::Load(d, w + lanes);
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      const Lanes x = hn::Set(d, a[i]);
      sum[i][0] = hn::MulAdd(x, w0, sum[i][0]);
      sum[i][1] = hn::MulAdd(x, w1, sum[i][1]);
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i)
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) {
      float* const to = c + i * panel_columns + j * lanes;
      const Lanes before = is_first ? hn::Zero(d) : hn::Load(d, to);
      if constexpr (is_scaled)
        hn::Store(hn::MulAdd(sum[i][j], hn::Load(d, scale + j * lanes), before), d, to);
      else
        hn::Store(hn::Add(sum[i][j], before), d, to);
    }
}

bool are_finite(const float* scale) {
  const Full<float> d;
  return hn::AllTrue(d, hn::And(hn::IsFinite(hn::Load(d, scale)), hn::IsFinite(hn::Load(d, scale + lanes))));
}

// Makes weights of the numbers whose scale is not finite: an infinity times 0 is NaN.
void apply_infinite_scales(float* w, float* scale) {
  if (are_finite(scale)) return;
  for (int64_t j = 0; j < panel_columns; ++j) {
    if (scale[j] - scale[j] == 0) continue;
    for (int64_t i = 0; i < part; ++i) w[i * panel_columns + j] *= scale[j];
    scale[j] = 1;
  }
}

// The products of a part with one row of x, from registers: sum = a[part] @ w[part][panel_columns].
struct RowProducts {
  const float* a;
  float* scale;
  Lanes sum[vectors];

  RowProducts(const float* row, float* scales) : a(row), scale(scales) {
    for (Lanes& each : sum) each = hn::Zero(Full<float>());
  }
  template <int v>
  HWY_INLINE void add(Lanes weights, int64_t element) {
    sum[v] = hn::MulAdd(hn::Set(Full<float>(), a[element]), weights, sum[v]);
  }
};

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

// The product as one of x with a K x N matrix: w with its last axes swapped.
struct Weights {
  Operand in[2];
  Call call;
  Product p;

  explicit Weights(const Call& given) : in{given.in[0], given.in[1]}, call(given) {
    Operand& w = in[1];
    const auto swap = [&](int64_t* of) {
      const int64_t last = of[w.rank - 1];
      of[w.rank - 1] = of[w.rank - 2];
      of[w.rank - 2] = last;
    };
    swap(w.shape);
    swap(w.strides);
    call.in = in;
    p = product_of(call);
  }
  Weights(const Weights&) = delete;
};

int64_t panels_of(const Product& p) { return ceil_div(p.n, panel_columns); }

// Rows of x that are packed together: as many as stay in the second-level cache, in tiles of equal height.
int64_t rows_together(const Product& p) {
  constexpr int64_t cache = 1 << 20;
  const int64_t tiles = larger(1, smaller(9, cache / (larger(1, p.k) * 4 * most_rows)));
  return smaller(p.m, tiles * most_rows);
}

// The memory of a thread.
template <DType dtype>
struct PartMemory {
  float *a, *w, *scale, *c;
  BlockPanel<dtype>* panel;

  PartMemory(ScratchArena& scratch, const Product& p, bool is_prepared)
      : a(scratch.array<float>(rows_together(p) * p.k)),
        w(scratch.array<float>(part * panel_columns)),
        scale(scratch.array<float>(panel_columns)),
        c(scratch.array<float>(rows_together(p) * panel_columns)),
        panel(scratch.array<BlockPanel<dtype>>(is_prepared ? 0 : 1)) {}
};

// Repacks the blocks at place `at` along k of up to panel_columns rows of w.
template <DType dtype>
void fill_panel(const Block<dtype>* w, int64_t row_blocks, int64_t at, int64_t columns, BlockPanel<dtype>& to) {
  static constexpr Block<dtype> zeros{};
  for (int64_t j = 0; j < panel_columns; ++j) to.put(j, j < columns ? w[j * row_blocks + at] : zeros);
}

template <DType dtype>
struct BlockProduct {
  const Call& call;
  const Product& p;
  const float* x;
  const Block<dtype>* w;
  const BlockPanel<dtype>* packed;  // [panel][block of k], or null
  float* c;

  static constexpr int64_t elements = Block<dtype>::elements;
  int64_t blocks() const { return p.k / elements; }

  // [part][tile][32][rows of the tile]
  void pack_rows(int64_t batch, int64_t first, int64_t rows, float* to) const {
    const float* const from = x + p.offset(p.a_batch, batch) + first * p.a_row;
    const int64_t tall = even_rows<float>(rows);
    for (int64_t k = 0; k < p.k; k += part)
      for (int64_t row = 0; row < rows; row += tall) {
        const int64_t many = smaller(tall, rows - row);
        pack<float, false>(from + row * p.a_row + k * p.a_column, p.a_row, p.a_column, many, smaller(part, p.k - k), to,
                           many);
        to += many * part;
      }
  }

  void multiply_panel(int64_t batch, int64_t rows, int64_t panel, const PartMemory<dtype>& memory) const {
    constexpr bool is_scaled = BlockPanel<dtype>::is_scaled;
    const int64_t tall = even_rows<float>(rows), short_rows = rows % tall;
    const PartFunction whole = part_function_for<is_scaled>(tall);
    const PartFunction last = part_function_for<is_scaled>(short_rows == 0 ? tall : short_rows);
    const Block<dtype>* const from =
        packed != nullptr ? nullptr : w + (p.offset(p.b_batch, batch) + panel * panel_columns * p.b_column) / elements;
    const float* a = memory.a;
    for (int64_t block = 0; block < blocks(); ++block) {
      const BlockPanel<dtype>* now = packed + panel * blocks() + block;
      if (packed == nullptr) {
        fill_panel(from, p.b_column / elements, block, smaller(panel_columns, p.n - panel * panel_columns),
                   *memory.panel);
        now = memory.panel;
      }
      for (int64_t k = 0; k < elements / part; ++k) {
        if (rows == 1 && add_row(*now, k, a, block == 0 && k == 0, memory)) {
          a += part;
          continue;
        }
        StoredWeights sink{memory.w, memory.scale};
        now->decode(k, sink);
        if constexpr (is_scaled) apply_infinite_scales(memory.w, memory.scale);
        for (int64_t row = 0; row < rows; row += tall) {
          const bool is_last = row + tall >= rows;
          (is_last ? last : whole)(a, memory.w, memory.scale, block == 0 && k == 0, memory.c + row * panel_columns);
          a += smaller(tall, rows - row) * part;
        }
      }
    }
  }

  // Adds the products of a part with one row, by the operations of multiply_part. Returns false, and adds nothing, if a
  // scale is not finite.
  static bool add_row(const BlockPanel<dtype>& panel, int64_t k, const float* a, bool is_first,
                      const PartMemory<dtype>& memory) {
    const Full<float> d;
    RowProducts sink(a, memory.scale);
    panel.decode(k, sink);
    if (BlockPanel<dtype>::is_scaled && !are_finite(memory.scale)) return false;
    for_vectors_of_panel([&](auto v) {
      float* const to = memory.c + v.value * lanes;
      const Lanes before = is_first ? hn::Zero(d) : hn::Load(d, to);
      if constexpr (BlockPanel<dtype>::is_scaled)
        hn::Store(hn::MulAdd(sink.sum[v.value], hn::Load(d, memory.scale + v.value * lanes), before), d, to);
      else
        hn::Store(hn::Add(sink.sum[v.value], before), d, to);
    });
    return true;
  }

  // Writes rows of a panel, and applies the epilogue to them.
  fe_error* finish(int64_t batch, int64_t first, int64_t rows, int64_t panel, const float* from, char* local) const {
    const int64_t width = smaller(panel_columns, p.n - panel * panel_columns);
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t at = (batch * p.m + first + i) * p.n + panel * panel_columns;
      __builtin_memcpy(c + at, from + i * panel_columns, static_cast<size_t>(width) * sizeof(float));
      if (call.epilogue == nullptr) continue;
      if (fe_error* error = call.epilogue->apply(call.epilogue, at, width, c + at, local)) return error;
    }
    return nullptr;
  }

  fe_error* run() const {
    const int64_t together = rows_together(p), row_blocks = ceil_div(p.m, together), panels = panels_of(p);
    const int64_t grain = larger(1, (1 << 18) / (larger(1, p.k) * panel_columns * together));
    return parallel_with_local(
        call, p.batches * row_blocks * panels, grain, [&](int64_t begin, int64_t end, char* local) -> fe_error* {
          ScratchArena scratch(local);
          const PartMemory<dtype> memory(scratch, p, packed != nullptr);
          int64_t packed_rows = -1;
          for (int64_t task = begin; task < end; ++task) {
            const int64_t panel = task % panels, batch = task / panels / row_blocks;
            const int64_t first = task / panels % row_blocks * together, rows = smaller(together, p.m - first);
            if (task / panels != packed_rows) {
              pack_rows(batch, first, rows, memory.a);
              packed_rows = task / panels;
            }
            if (p.k == 0) memset(memory.c, 0, static_cast<size_t>(rows * panel_columns) * sizeof(float));
            multiply_panel(batch, rows, panel, memory);
            if (fe_error* error = finish(batch, first, rows, panel, memory.c, local)) return error;
          }
          return nullptr;
        });
  }
};

uint64_t scratch_size(const Call& call) {
  const Weights weights(call);
  const Product& p = weights.p;
  return has_own_result(call) ? static_cast<uint64_t>(p.batches * p.m * p.n) * sizeof(float) : 0;
}

// f is called with an integral constant, the dtype.
template <class F>
void with_weights(const Call& call, F f) {
  switch (call.in[1].dtype) {
#define FERRULE_CASE(id, ...)                                                     \
  case DType::id:                                                                 \
    if constexpr (has_block<DType::id>) f(Number<static_cast<int>(DType::id)>{}); \
    break;
    FE_DTYPES(FE_NO_DTYPE, FERRULE_CASE)
#undef FERRULE_CASE
    default:
      break;
  }
}

LocalScratch local_scratch(const Call& call) {
  LocalScratch local;
  const Weights weights(call);
  with_weights(call, [&](auto dtype) {
    ScratchArena scratch(nullptr);
    const PartMemory<static_cast<DType>(dtype.value)> memory(scratch, weights.p, call.in[1].prepared);
    local = {scratch.bytes(),
             weights.p.batches * ceil_div(weights.p.m, rows_together(weights.p)) * panels_of(weights.p)};
  });
  return local;
}

uint64_t prepare_size(const Call& call, uint32_t input, char* key, size_t key_capacity) {
  if (input != 1) return 0;
  const Weights weights(call);
  const Product& p = weights.p;
  if (!p.shared_b || p.k == 0 || p.n == 0) return 0;
  snprintf(key, key_capacity, "linear/panels%d/%d/k%lld/n%lld:%lld", static_cast<int>(panel_columns),
           static_cast<int>(call.in[1].dtype), static_cast<long long>(p.k), static_cast<long long>(p.n),
           static_cast<long long>(p.b_column));
  uint64_t bytes = 0;
  with_weights(call, [&](auto dtype) {
    constexpr DType kind = static_cast<DType>(dtype.value);
    bytes = static_cast<uint64_t>(panels_of(p) * (p.k / Block<kind>::elements)) * sizeof(BlockPanel<kind>);
  });
  return bytes;
}

void prepare(const Call& call, uint32_t, void* to) {
  const Weights weights(call);
  const Product& p = weights.p;
  with_weights(call, [&](auto dtype) {
    constexpr DType kind = static_cast<DType>(dtype.value);
    constexpr int64_t elements = Block<kind>::elements;
    const auto* const from = reinterpret_cast<const Block<kind>*>(call.in[1].data);
    auto* panel = static_cast<BlockPanel<kind>*>(to);
    for (int64_t first = 0; first < p.n; first += panel_columns)
      for (int64_t block = 0; block < p.k / elements; ++block)
        fill_panel(from + first * p.b_column / elements, p.b_column / elements, block,
                   smaller(panel_columns, p.n - first), *panel++);
  });
}

bool accepts(const Call& call) {
  return call.in_count == 2 && call.in[0].rank > 0 && (block_dtypes & one_of(call.in[1].dtype)) != 0;
}

}  // namespace

KERNEL(linear, .dtypes = f32, .layouts = {FE_LAYOUT_ANY, FE_LAYOUT_ROWS}, .takes_epilogue = true, .accepts = accepts,
       .scratch_size = scratch_size, .local_scratch = local_scratch, .prepare_size = prepare_size, .prepare = prepare) {
  const Weights weights(call);
  if (is_empty(weights.p)) return nullptr;
  fe_error* error = nullptr;
  with_weights(call, [&](auto dtype) {
    constexpr DType kind = static_cast<DType>(dtype.value);
    const bool is_prepared = call.in[1].prepared;
    error =
        BlockProduct<kind>{
            call,
            weights.p,
            reinterpret_cast<const float*>(call.in[0].data),
            is_prepared ? nullptr : reinterpret_cast<const Block<kind>*>(call.in[1].data),
            is_prepared ? reinterpret_cast<const BlockPanel<kind>*>(call.in[1].data) : nullptr,
            reinterpret_cast<float*>(has_own_result(call) ? call.scratch : call.out[0].data),
        }
            .run();
  });
  return error;
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
