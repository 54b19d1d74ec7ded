// Matrix products, batched, with any strides. See gemm.h for the layout and for why results are invariant.
#include "gemm.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// The shapes and strides of a call. A one-dimensional operand is a row of A or a column of B.
struct Product {
  int64_t m, n, k, batches;
  int64_t a_row, a_column, b_row, b_column;
  int32_t batch_rank;
  int64_t batch_shape[FE_MAX_RANK], a_batch[FE_MAX_RANK], b_batch[FE_MAX_RANK];
  bool shared_b;  // one B for all batches

  int64_t offset(const int64_t* strides, int64_t batch) const {
    int64_t at = 0;
    for (int32_t i = batch_rank; i-- > 0;) {
      at += batch % batch_shape[i] * strides[i];
      batch /= batch_shape[i];
    }
    return at;
  }
};

Product product_of(const Call& call) {
  const Operand &a = call.in[0], &b = call.in[1];
  Product p = {};
  p.k = a.shape[a.rank - 1];
  p.a_column = a.strides[a.rank - 1];
  p.m = a.rank > 1 ? a.shape[a.rank - 2] : 1;
  p.a_row = a.rank > 1 ? a.strides[a.rank - 2] : 0;
  p.n = b.rank > 1 ? b.shape[b.rank - 1] : 1;
  p.b_column = b.rank > 1 ? b.strides[b.rank - 1] : 0;
  p.b_row = b.rank > 1 ? b.strides[b.rank - 2] : b.strides[0];
  const int32_t a_rank = a.rank > 2 ? a.rank - 2 : 0, b_rank = b.rank > 2 ? b.rank - 2 : 0;
  p.batch_rank = a_rank > b_rank ? a_rank : b_rank;
  p.batches = 1;
  p.shared_b = true;
  for (int32_t i = 0; i < p.batch_rank; ++i) {
    const int32_t ai = i - (p.batch_rank - a_rank), bi = i - (p.batch_rank - b_rank);
    const int64_t as = ai >= 0 ? a.shape[ai] : 1, bs = bi >= 0 ? b.shape[bi] : 1;
    p.batch_shape[i] = as == 1 ? bs : as;
    p.a_batch[i] = as == 1 ? 0 : a.strides[ai];
    p.b_batch[i] = bs == 1 ? 0 : b.strides[bi];
    if (p.b_batch[i] != 0 && p.batch_shape[i] > 1) p.shared_b = false;
    p.batches *= p.batch_shape[i];
  }
  // Batches of A that follow each other in memory, against one B, are one tall matrix.
  if (p.shared_b) {
    while (p.batch_rank > 0 &&
           (p.a_batch[p.batch_rank - 1] == p.m * p.a_row || p.batch_shape[p.batch_rank - 1] == 1 || p.m == 1)) {
      const int32_t last = p.batch_rank - 1;
      if (p.m == 1) p.a_row = p.a_batch[last];
      p.m *= p.batch_shape[last];
      p.batches /= larger(1, p.batch_shape[last]);
      --p.batch_rank;
    }
  }
  return p;
}

bool is_empty(const Product& p) { return p.m == 0 || p.n == 0 || p.batches == 0; }

// Below this many rows, writing a packed B to memory costs more than it saves: it is packed where it is used.
constexpr int64_t few_rows = 2 * Tile<float>::rows;

template <class T>
struct Multiplication {
  const Call& call;
  const Product p;
  const T *a, *b;   // b: null when packed
  const T* packed;  // [batch or 1][panel][K][columns]
  T* c;

  // Rows [row, row + rows) of one batch times columns [column, last_column), one K block at a time.
  void rows_times_columns(int64_t batch, int64_t first_row, int64_t last_row, int64_t first_panel,
                          int64_t last_panel) const {
    constexpr int64_t columns = Tile<T>::columns, tile_rows = Tile<T>::rows;
    alignas(64) T a_packed[tile_rows * Tile<T>::max_depth];
    const int64_t depth = depth_of<T>(p.k), blocks = larger(1, ceil_div(p.k, depth));
    const T* a_batch = a + p.offset(p.a_batch, batch);
    const T* panels = packed + (p.shared_b ? 0 : batch * packed_elements<T>(p.k, p.n));
    T* c_batch = c + batch * p.m * p.n;
    for (int64_t block = 0; block < blocks; ++block) {
      const int64_t k0 = block * depth, steps = smaller(depth, p.k - k0);
      for (int64_t row = first_row; row < last_row; row += tile_rows) {
        const int64_t rows = smaller(tile_rows, last_row - row);
        pack<false>(a_batch + row * p.a_row + k0 * p.a_column, p.a_row, p.a_column, rows, steps, a_packed, tile_rows);
        const auto tile = block == 0 ? tile_for<T, false>(rows) : tile_for<T, true>(rows);
        const int64_t whole_panels = smaller(last_panel, p.n / columns) - first_panel;
        int64_t panel =
            first_panel + multiply_wide(rows, block > 0, a_packed, panels + (first_panel * p.k + k0) * columns,
                                        p.k * columns, columns, steps, c_batch + row * p.n + first_panel * columns, p.n,
                                        whole_panels);
        for (; panel < last_panel; ++panel)
          tile(a_packed, panels + (panel * p.k + k0) * columns, columns, steps, c_batch + row * p.n + panel * columns,
               p.n, smaller(columns, p.n - panel * columns));
        if (block == blocks - 1) finish(batch, row, rows, first_panel, last_panel);
      }
    }
  }

  // Few rows and a B that is not packed: some panels at a time are packed on the stack, for all rows at once. Several,
  // because rows of B are long, and a panel alone would take a few bytes from each page.
  void few_rows_times_columns(int64_t batch, int64_t first_panel, int64_t last_panel) const {
    constexpr int64_t columns = Tile<T>::columns, tile_rows = Tile<T>::rows;
    constexpr int64_t max_tiles = ceil_div(few_rows, tile_rows);
    alignas(64) T a_packed[max_tiles][tile_rows * Tile<T>::max_depth];
    alignas(64) T b_packed[panel_group][columns * Tile<T>::max_depth];
    const int64_t depth = depth_of<T>(p.k), blocks = larger(1, ceil_div(p.k, depth));
    const T* a_batch = a + p.offset(p.a_batch, batch);
    const T* b_batch = b + p.offset(p.b_batch, batch);
    T* c_batch = c + batch * p.m * p.n;
    for (int64_t block = 0; block < blocks; ++block) {
      const int64_t k0 = block * depth, steps = smaller(depth, p.k - k0);
      for (int64_t row = 0; row < p.m; row += tile_rows)
        pack<false>(a_batch + row * p.a_row + k0 * p.a_column, p.a_row, p.a_column, smaller(tile_rows, p.m - row),
                    steps, a_packed[row / tile_rows], tile_rows);
      int64_t panel = first_panel;
      if (p.b_column == 1)  // one or two rows: B where it is
        panel += multiply_wide(p.m, block > 0, a_packed[0], b_batch + panel * columns + k0 * p.b_row, columns, p.b_row,
                               steps, c_batch + panel * columns, p.n, smaller(last_panel, p.n / columns) - panel);
      for (; panel < last_panel; panel += panel_group) {
        const int64_t group = smaller(panel_group, last_panel - panel);
        pack_group(b_batch + panel * columns * p.b_column + k0 * p.b_row, group,
                   smaller(group * columns, p.n - panel * columns), steps, b_packed);
        for (int64_t row = 0; row < p.m; row += tile_rows) {
          const int64_t rows = smaller(tile_rows, p.m - row);
          const auto tile = block == 0 ? tile_for<T, false>(rows) : tile_for<T, true>(rows);
          for (int64_t i = 0; i < group; ++i)
            tile(a_packed[row / tile_rows], b_packed[i], columns, steps, c_batch + row * p.n + (panel + i) * columns,
                 p.n, smaller(columns, p.n - (panel + i) * columns));
        }
      }
    }
    for (int64_t row = 0; row < p.m; row += tile_rows)
      finish(batch, row, smaller(tile_rows, p.m - row), first_panel, last_panel);
  }

  static constexpr int64_t panel_group = 4;

  // `width` columns of `steps` rows of B, as a group of panels.
  void pack_group(const T* from, int64_t group, int64_t width, int64_t steps,
                  T (*to)[Tile<T>::columns * Tile<T>::max_depth]) const {
    constexpr int64_t columns = Tile<T>::columns;
    if (p.b_column == 1 && width == group * columns) {
      for (int64_t k = 0; k < steps; ++k, from += p.b_row)
        for (int64_t i = 0; i < group; ++i)
          __builtin_memcpy(to[i] + k * columns, from + i * columns, columns * sizeof(T));
      return;
    }
    for (int64_t i = 0; i < group; ++i)
      pack<true>(from + i * columns * p.b_column, p.b_column, p.b_row, smaller(columns, width - i * columns), steps,
                 to[i], columns);
  }

  // The epilogue over rows that are complete and still in cache.
  void finish(int64_t batch, int64_t row, int64_t rows, int64_t first_panel, int64_t last_panel) const {
    if (call.epilogue == nullptr) return;
    const int64_t first = first_panel * Tile<T>::columns;
    const int64_t count = smaller(p.n, last_panel * Tile<T>::columns) - first;
    for (int64_t i = row; i < row + rows; ++i) {
      const int64_t at = (batch * p.m + i) * p.n + first;
      call.epilogue->apply(call.epilogue, at, count, c + at);
    }
  }

  fe_error* run() const {
    constexpr int64_t columns = Tile<T>::columns;
    const int64_t panels = ceil_div(p.n, columns);
    if (packed == nullptr) {
      const int64_t grain = larger(1, 65536 / larger(1, p.k * columns));
      return parallel(call, p.batches * panels, grain, [this, panels](int64_t begin, int64_t end) {
        while (begin < end) {
          const int64_t batch = begin / panels, last = smaller(end, (batch + 1) * panels);
          few_rows_times_columns(batch, begin - batch * panels, last - batch * panels);
          begin = last;
        }
      });
    }
    // Blocks of rows and columns: a block of B of one K block stays in the second-level cache. Blocks of rows are of
    // about the same number of tiles, and a multiple of the threads where the blocks are few.
    const int64_t block_panels = smaller(panels, larger(1, 512 * 4 / static_cast<int64_t>(sizeof(T)) / columns));
    const int64_t column_blocks = ceil_div(panels, block_panels), tiles = ceil_div(p.m, Tile<T>::rows);
    const int64_t threads = call.thread_limit > 0 ? smaller(call.thread_limit, call.host->thread_count())
                                                  : static_cast<int64_t>(call.host->thread_count());
    const int64_t fewest = ceil_div(tiles, 10);
    const int64_t row_blocks = p.batches * column_blocks == 1 ? smaller(tiles, round_up(fewest, threads)) : fewest;
    const auto first_row = [&](int64_t block) { return smaller(p.m, block * tiles / row_blocks * Tile<T>::rows); };
    return parallel(call, p.batches * column_blocks * row_blocks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end;) {
        const int64_t column_block = task / row_blocks % column_blocks, batch = task / (row_blocks * column_blocks);
        const int64_t first = task % row_blocks, last = smaller(row_blocks, first + (end - task));
        rows_times_columns(batch, first_row(first), first_row(last), column_block * block_panels,
                           smaller(panels, (column_block + 1) * block_panels));
        task += last - first;
      }
    });
  }
};

// Scratch: the packed B, if it is packed at every execution; then the result, if the epilogue cannot start from out[0].
bool packs_b(const Call& call, const Product& p) { return !call.in[1].prepared && p.m > few_rows; }

template <class T>
int64_t packed_bytes(const Product& p) {
  const int64_t elements = packed_elements<T>(p.k, p.n) * (p.shared_b ? 1 : p.batches);
  return round_up(elements * static_cast<int64_t>(sizeof(T)), 64);
}

template <class T>
int64_t scratch_of(const Call& call) {
  const Product p = product_of(call);
  int64_t bytes = packs_b(call, p) ? packed_bytes<T>(p) : 0;
  if (call.epilogue != nullptr && !call.epilogue->own_in_place)
    bytes += p.batches * p.m * p.n * static_cast<int64_t>(sizeof(T));
  return bytes;
}

template <class T>
fe_error* multiply(const Call& call) {
  const Product p = product_of(call);
  if (is_empty(p)) return nullptr;
  char* scratch = call.scratch;
  const T *b = reinterpret_cast<const T*>(call.in[1].data), *packed = nullptr;
  if (call.in[1].prepared) {
    packed = b;
  } else if (packs_b(call, p)) {
    T* to = reinterpret_cast<T*>(scratch);
    scratch += packed_bytes<T>(p);
    const int64_t panels = ceil_div(p.n, Tile<T>::columns), matrices = p.shared_b ? 1 : p.batches;
    const int64_t grain = larger(1, 65536 / larger(1, p.k * Tile<T>::columns));
    fe_error* error = parallel(call, matrices * panels, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t matrix = i / panels, panel = i % panels;
        pack_panels(b + p.offset(p.b_batch, matrix), p.b_row, p.b_column, p.k, p.n, panel, panel + 1,
                    to + matrix * packed_elements<T>(p.k, p.n));
      }
    });
    if (error != nullptr) return error;
    packed = to;
  }
  T* c = reinterpret_cast<T*>(call.epilogue != nullptr && !call.epilogue->own_in_place ? scratch : call.out[0].data);
  return Multiplication<T>{call, p, reinterpret_cast<const T*>(call.in[0].data), b, packed, c}.run();
}

uint64_t scratch_size(const Call& call) {
  return static_cast<uint64_t>(call.in[0].dtype == DType::f32 ? scratch_of<float>(call) : scratch_of<double>(call));
}

uint64_t prepare_size(const Call& call, uint32_t input, char* key, size_t key_capacity) {
  if (input != 1 || call.in[1].rank < 1) return 0;
  const Product p = product_of(call);
  if (!p.shared_b || p.k == 0 || p.n == 0) return 0;
  const bool single = call.in[0].dtype == DType::f32;
  // The strides matter: equal keys must mean equal bytes for equal constants.
  snprintf(key, key_capacity, "matmul/panels%d/%s/k%lld:%lld/n%lld:%lld",
           static_cast<int>(single ? Tile<float>::columns : Tile<double>::columns), single ? "f32" : "f64",
           static_cast<long long>(p.k), static_cast<long long>(p.b_row), static_cast<long long>(p.n),
           static_cast<long long>(p.b_column));
  return static_cast<uint64_t>(single ? packed_elements<float>(p.k, p.n) * 4 : packed_elements<double>(p.k, p.n) * 8);
}

template <class T>
void prepare_panels(const Call& call, void* to) {
  const Product p = product_of(call);
  pack_panels(reinterpret_cast<const T*>(call.in[1].data), p.b_row, p.b_column, p.k, p.n, 0,
              ceil_div(p.n, Tile<T>::columns), static_cast<T*>(to));
}
void prepare(const Call& call, uint32_t, void* to) {
  call.in[0].dtype == DType::f32 ? prepare_panels<float>(call, to) : prepare_panels<double>(call, to);
}

bool accepts(const Call& call) {
  return call.in_count >= 2 && call.in[0].dtype == call.in[1].dtype && call.in[0].rank > 0 && call.in[1].rank > 0;
}

}  // namespace

KERNEL(matmul, .dtypes = f32 | f64, .takes_epilogue = true, .accepts = accepts, .scratch_size = scratch_size,
       .prepare_size = prepare_size, .prepare = prepare) {
  return call.in[0].dtype == DType::f32 ? multiply<float>(call) : multiply<double>(call);
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
