// Matrix products, batched, with any strides. gemm.h describes the layout and why results are invariant.
#include "../cancellation.h"
#include "../complex.h"
#include "../gemm.h"
#include "column_product.h"
#include "matmul_shape.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// With fewer rows than this, writing a packed B to memory costs more than it saves: each thread packs B as it uses it.
constexpr int64_t few_rows = 2 * Tile<float>::rows;

bool has_few_rows(const Call& call, const Product& p) { return !call.in[1].prepared && p.m <= few_rows; }

constexpr int64_t panel_group = 4;  // panels that are packed at once where B is not packed

// Whether B stays in the first-level cache.
template <class T>
bool has_small_b(const Product& p) {
  return p.k * p.n * static_cast<int64_t>(sizeof(T)) <= 32768;
}

// Whether few rows read whole panels of B in place: one or two rows read each element only once, and a small B whose
// rows are contiguous is in the cache already.
template <class T>
bool reads_b_in_place(const Product& p) {
  return p.b_column == 1 && (p.m <= wide_rows || (has_small_b<T>(p) && p.b_row == p.n));
}

// The number of panels that few rows pack at a time.
template <class T>
int64_t packed_at_once(const Product& p) {
  if (reads_b_in_place<T>(p)) return p.n % Tile<T>::columns == 0 ? 0 : 1;
  return has_small_b<T>(p) ? 1 : smaller(panel_group, ceil_div(p.n, Tile<T>::columns));
}

// The memory in which a thread packs.
template <class T>
struct Packing {
  int64_t tile, panel;  // elements from one tile of A, or panel of B, to the next
  T *a, *b;

  Packing(ScratchArena& scratch, const Product& p, bool few)
      : tile(Tile<T>::rows * depth_of<T>(p.k)),
        panel(Tile<T>::columns * depth_of<T>(p.k)),
        a(scratch.array<T>(tile * (few ? ceil_div(p.m, even_rows<T>(p.m)) : 1))),
        b(scratch.array<T>(few ? panel * packed_at_once<T>(p) : 0)) {}
};

// The division of a product into tasks.
struct Tasks {
  int64_t count, grain;
  int64_t row_blocks, column_blocks, block_panels;  // of many rows
};

// Tasks are blocks of rows and columns. A block of columns of B stays in the second-level cache for one K block; rows
// are cut into enough tasks for the threads to end together. With few rows, columns are split further; this costs
// another packing of A, and is done only if each task keeps a million multiply-adds.
template <class T>
Tasks tasks_of(const Product& p, bool few) {
  constexpr int64_t columns = Tile<T>::columns;
  const int64_t panels = ceil_div(p.n, columns);
  if (few) return {p.batches * panels, larger(1, 65536 / larger(1, p.k * columns)), 0, 0, 0};
  const int64_t widest = larger(1, 2048 / static_cast<int64_t>(sizeof(T)) / columns);
  const int64_t work = p.batches * p.m * p.n * p.k, wanted = smaller(12, work >> 18);
  const int64_t tiles = ceil_div(p.m, Tile<T>::rows);
  int64_t column_blocks = ceil_div(panels, widest), row_blocks = ceil_div(tiles, 10);
  if (p.batches * column_blocks * row_blocks < wanted)
    row_blocks = larger(row_blocks, smaller(tiles / 3, wanted / (p.batches * column_blocks)));
  if (p.batches * column_blocks * row_blocks < smaller(4, work >> 20)) column_blocks = smaller(panels, 4 / row_blocks);
  const int64_t block_panels = ceil_div(panels, column_blocks);
  column_blocks = ceil_div(panels, block_panels);
  return {p.batches * column_blocks * row_blocks, 1, row_blocks, column_blocks, block_panels};
}

template <class T>
struct Multiplication {
  const Call& call;
  const Product p;
  const T *a, *b;   // b is not used if B is packed
  const T* packed;  // [batch or 1][panel][K][columns]
  T* c;

  // Asks at every 16th block of a long K whether the caller cancels.
  fe_error* stops(int64_t block) const { return block % 16 == 15 ? cancelled(call) : nullptr; }

  // Multiplies rows [first_row, last_row) of one batch by panels [first_panel, last_panel), one K block at a time.
  fe_error* rows_times_columns(int64_t batch, int64_t first_row, int64_t last_row, int64_t first_panel,
                               int64_t last_panel, char* local) const {
    constexpr int64_t columns = Tile<T>::columns, tile_rows = Tile<T>::rows;
    ScratchArena scratch(local);
    T* const a_packed = Packing<T>(scratch, p, false).a;
    const int64_t depth = depth_of<T>(p.k), blocks = larger(1, ceil_div(p.k, depth));
    const T* a_batch = a + p.offset(p.a_batch, batch);
    const T* panels = packed + (p.shared_b ? 0 : batch * packed_elements<T>(p.k, p.n));
    T* c_batch = c + batch * p.m * p.n;
    const int64_t tall = even_rows<T>(last_row - first_row);
    for (int64_t block = 0; block < blocks; ++block) {
      if (fe_error* error = stops(block)) return error;
      const int64_t k0 = block * depth, steps = smaller(depth, p.k - k0);
      for (int64_t row = first_row; row < last_row; row += tall) {
        const int64_t rows = smaller(tall, last_row - row);
        pack<T, false>(a_batch + row * p.a_row + k0 * p.a_column, p.a_row, p.a_column, rows, steps, a_packed,
                       tile_rows);
        const auto tile = block == 0 ? tile_for<T, false>(rows) : tile_for<T, true>(rows);
        const int64_t whole_panels = smaller(last_panel, p.n / columns) - first_panel;
        int64_t panel =
            first_panel + multiply_wide(rows, block > 0, a_packed, panels + (first_panel * p.k + k0) * columns,
                                        p.k * columns, columns, steps, c_batch + row * p.n + first_panel * columns, p.n,
                                        whole_panels);
        for (; panel < last_panel; ++panel)
          tile(a_packed, panels + (panel * p.k + k0) * columns, columns, steps, c_batch + row * p.n + panel * columns,
               p.n, smaller(columns, p.n - panel * columns));
        if (block < blocks - 1) continue;
        if (fe_error* error = finish(batch, row, rows, first_panel, last_panel, local)) return error;
      }
    }
    return nullptr;
  }

  // Used for few rows and a B that is not packed. Each thread packs some panels at a time, for all rows at once. It
  // packs several panels because rows of B are long, and one panel takes only a few bytes of each page.
  fe_error* few_rows_times_columns(int64_t batch, int64_t first_panel, int64_t last_panel, char* local) const {
    constexpr int64_t columns = Tile<T>::columns, tile_rows = Tile<T>::rows;
    ScratchArena scratch(local);
    const Packing<T> packing(scratch, p, true);
    const int64_t at_once = packed_at_once<T>(p);
    const int64_t depth = depth_of<T>(p.k), blocks = larger(1, ceil_div(p.k, depth));
    const T* a_batch = a + p.offset(p.a_batch, batch);
    const T* b_batch = b + p.offset(p.b_batch, batch);
    T* c_batch = c + batch * p.m * p.n;
    const int64_t tall = even_rows<T>(p.m);
    for (int64_t block = 0; block < blocks; ++block) {
      if (fe_error* error = stops(block)) return error;
      const int64_t k0 = block * depth, steps = smaller(depth, p.k - k0);
      for (int64_t row = 0; row < p.m; row += tall)
        pack<T, false>(a_batch + row * p.a_row + k0 * p.a_column, p.a_row, p.a_column, smaller(tall, p.m - row), steps,
                       packing.a + row / tall * packing.tile, tile_rows);
      int64_t panel = first_panel;
      if (p.b_column == 1)  // one or two rows read B in place
        panel += multiply_wide(p.m, block > 0, packing.a, b_batch + panel * columns + k0 * p.b_row, columns, p.b_row,
                               steps, c_batch + panel * columns, p.n, smaller(last_panel, p.n / columns) - panel);
      if (reads_b_in_place<T>(p))
        for (; panel < smaller(last_panel, p.n / columns); ++panel)
          rows_times_panels(packing, b_batch + panel * columns + k0 * p.b_row, p.b_row, 0, 1, panel, steps, block > 0,
                            c_batch);
      for (; panel < last_panel; panel += at_once) {
        const int64_t group = smaller(at_once, last_panel - panel);
        pack_group(b_batch + panel * columns * p.b_column + k0 * p.b_row, group,
                   smaller(group * columns, p.n - panel * columns), steps, packing.b, packing.panel);
        rows_times_panels(packing, packing.b, columns, packing.panel, group, panel, steps, block > 0, c_batch);
      }
    }
    return finish(batch, 0, p.m, first_panel, last_panel, local);
  }

  // Multiplies all rows of the packed A by `group` panels from `panel` on, whose rows are `ldb` apart.
  void rows_times_panels(const Packing<T>& packing, const T* from, int64_t ldb, int64_t pitch, int64_t group,
                         int64_t panel, int64_t steps, bool accumulate, T* c_batch) const {
    constexpr int64_t columns = Tile<T>::columns;
    const int64_t tall = even_rows<T>(p.m);
    for (int64_t row = 0; row < p.m; row += tall) {
      const int64_t rows = smaller(tall, p.m - row);
      const auto tile = accumulate ? tile_for<T, true>(rows) : tile_for<T, false>(rows);
      for (int64_t i = 0; i < group; ++i)
        tile(packing.a + row / tall * packing.tile, from + i * pitch, ldb, steps,
             c_batch + row * p.n + (panel + i) * columns, p.n, smaller(columns, p.n - (panel + i) * columns));
    }
  }

  // Packs `width` columns of `steps` rows of B as a group of panels.
  void pack_group(const T* from, int64_t group, int64_t width, int64_t steps, T* to, int64_t pitch) const {
    constexpr int64_t columns = Tile<T>::columns;
    if (p.b_column == 1 && width == group * columns) {
      for (int64_t k = 0; k < steps; ++k, from += p.b_row)
        for (int64_t i = 0; i < group; ++i)
          __builtin_memcpy(to + i * pitch + k * columns, from + i * columns, columns * sizeof(T));
      return;
    }
    for (int64_t i = 0; i < group; ++i)
      pack<T, true>(from + i * columns * p.b_column, p.b_column, p.b_row, smaller(columns, width - i * columns), steps,
                    to + i * pitch, columns);
  }

  // Applies the epilogue to rows that are complete and still in cache.
  fe_error* finish(int64_t batch, int64_t row, int64_t rows, int64_t first_panel, int64_t last_panel,
                   char* local) const {
    if (call.epilogue == nullptr) return nullptr;
    const int64_t first = first_panel * Tile<T>::columns;
    const int64_t count = smaller(p.n, last_panel * Tile<T>::columns) - first;
    for (int64_t i = row; i < row + rows; ++i) {
      const int64_t at = (batch * p.m + i) * p.n + first;
      if (fe_error* error = call.epilogue->apply(call.epilogue, at, count, c + at, local)) return error;
    }
    return nullptr;
  }

  fe_error* run() const {
    const bool few = has_few_rows(call, p);
    const Tasks t = tasks_of<T>(p, few);
    const int64_t panels = ceil_div(p.n, Tile<T>::columns), tiles = ceil_div(p.m, Tile<T>::rows);
    if (few)
      return parallel_with_local(call, t.count, t.grain, [&](int64_t begin, int64_t end, char* local) -> fe_error* {
        while (begin < end) {
          const int64_t batch = begin / panels, last = smaller(end, (batch + 1) * panels);
          if (fe_error* error = few_rows_times_columns(batch, begin - batch * panels, last - batch * panels, local))
            return error;
          begin = last;
        }
        return nullptr;
      });
    const auto first_row = [&](int64_t block) { return smaller(p.m, block * tiles / t.row_blocks * Tile<T>::rows); };
    return parallel_with_local(call, t.count, t.grain, [&](int64_t begin, int64_t end, char* local) -> fe_error* {
      for (int64_t task = begin; task < end;) {
        const int64_t column_block = task / t.row_blocks % t.column_blocks;
        const int64_t batch = task / (t.row_blocks * t.column_blocks);
        const int64_t first = task % t.row_blocks, last = smaller(t.row_blocks, first + (end - task));
        if (fe_error* error =
                rows_times_columns(batch, first_row(first), first_row(last), column_block * t.block_panels,
                                   smaller(panels, (column_block + 1) * t.block_panels), local))
          return error;
        task += last - first;
      }
      return nullptr;
    });
  }
};

// Scratch holds the packed B, if it is packed at every execution, and then the result, if the epilogue cannot start
// from out[0].
bool packs_b(const Call& call, const Product& p) { return !call.in[1].prepared && !has_few_rows(call, p); }

template <class T>
int64_t packed_bytes(const Product& p) {
  const int64_t elements = packed_elements<T>(p.k, p.n) * (p.shared_b ? 1 : p.batches);
  return round_up(elements * static_cast<int64_t>(sizeof(T)), 64);
}

// Packs each B, some rows at a time so that a long K can be cancelled.
template <class T>
fe_error* pack_b(const Call& call, const Product& p, const T* b, T* to) {
  constexpr int64_t columns = Tile<T>::columns, most_rows = 1 << 17;
  const int64_t panels = ceil_div(p.n, columns), matrices = p.shared_b ? 1 : p.batches;
  for (int64_t k0 = 0; k0 < p.k; k0 += most_rows) {
    if (k0 > 0)
      if (fe_error* error = cancelled(call)) return error;
    const int64_t rows = smaller(most_rows, p.k - k0), grain = larger(1, 65536 / (rows * columns));
    fe_error* error = parallel(call, matrices * panels, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t matrix = i / panels, column = i % panels * columns;
        pack<T, true>(b + p.offset(p.b_batch, matrix) + k0 * p.b_row + column * p.b_column, p.b_column, p.b_row,
                      smaller(columns, p.n - column), rows,
                      to + matrix * packed_elements<T>(p.k, p.n) + column * p.k + k0 * columns, columns);
      }
    });
    if (error != nullptr) return error;
  }
  return nullptr;
}

template <class T>
int64_t scratch_of(const Call& call) {
  const Product p = product_of(call);
  int64_t bytes = packs_b(call, p) ? packed_bytes<T>(p) : 0;
  if (has_one_column(call, p)) {
    ScratchArena scratch(nullptr);
    const ColumnMemory<T> memory(scratch, p);
    bytes = static_cast<int64_t>(scratch.bytes());
  }
  if (has_own_result(call)) bytes += p.batches * p.m * p.n * static_cast<int64_t>(sizeof(T));
  return bytes;
}

template <class T>
fe_error* multiply(const Call& call) {
  const Product p = product_of(call);
  if (is_empty(p)) return nullptr;
  char* scratch = call.scratch;
  if (has_one_column(call, p)) {
    ScratchArena own(scratch);
    const ColumnMemory<T> memory(own, p);
    scratch += own.bytes();
    T* const c = reinterpret_cast<T*>(has_own_result(call) ? scratch : call.out[0].data);
    return multiply_column<T>(call, p, memory, c, [&](int64_t first, int64_t count, char* local) -> fe_error* {
      if (call.epilogue == nullptr) return nullptr;
      return call.epilogue->apply(call.epilogue, first, count, c + first, local);
    });
  }
  const T *b = reinterpret_cast<const T*>(call.in[1].data), *packed = nullptr;
  if (call.in[1].prepared) {
    packed = b;
  } else if (packs_b(call, p)) {
    T* to = reinterpret_cast<T*>(scratch);
    scratch += packed_bytes<T>(p);
    if (fe_error* error = pack_b(call, p, b, to)) return error;
    packed = to;
  }
  T* c = reinterpret_cast<T*>(has_own_result(call) ? scratch : call.out[0].data);
  return Multiplication<T>{call, p, reinterpret_cast<const T*>(call.in[0].data), b, packed, c}.run();
}

uint64_t scratch_size(const Call& call) {
  return static_cast<uint64_t>(call.in[0].dtype == DType::f32 ? scratch_of<float>(call) : scratch_of<double>(call));
}

template <class T>
LocalScratch local_of(const Call& call) {
  const Product p = product_of(call);
  if (is_empty(p)) return {};
  if (has_one_column(call, p)) return {64, p.batches * p.m * ceil_div(p.k, column_block)};
  const bool few = has_few_rows(call, p);
  const Tasks tasks = tasks_of<T>(p, few);
  ScratchArena scratch(nullptr);
  const Packing<T> packing(scratch, p, few);
  return {scratch.bytes(), ceil_div(tasks.count, tasks.grain)};
}
LocalScratch local_scratch(const Call& call) {
  return call.in[0].dtype == DType::f32 ? local_of<float>(call) : local_of<double>(call);
}

uint64_t prepare_size(const Call& call, uint32_t input, char* key, size_t key_capacity) {
  if (input != 1 || call.in[1].rank < 1) return 0;
  const Product p = product_of(call);
  if (!p.shared_b || p.k == 0 || p.n == 0 || has_one_column(call, p)) return 0;
  const bool single = call.in[0].dtype == DType::f32;
  // The key includes the strides: constants with equal bytes and equal keys must give equal packed bytes.
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

// A product of complex matrices is one of real matrices of twice the width: the rows of A and of C are read as real
// numbers, real and imaginary parts in turn, and each element a + b i of B becomes the block (a, b; -b, a), which
// exists in packed panels only. The number of real multiplications is that of the complex product.
template <class T>
struct RealProduct {
  Operand in[2], out;
  Call call;

  explicit RealProduct(const Call& complex) : call(complex) {
    in[0] = complex.in[0];
    in[1] = complex.in[1];
    out = complex.out[0];
    Operand &a = in[0], &b = in[1];
    a.shape[a.rank - 1] *= 2;
    int64_t stride = 1;
    for (int32_t axis = a.rank; axis-- > 0; stride *= a.shape[axis]) a.strides[axis] = stride;
    if (b.rank == 1) {  // a column
      b.shape[1] = 1;
      b.rank = 2;
    }
    // The address of B does not matter, as B is packed; it matters only which of its batches are the same.
    b.shape[b.rank - 2] *= 2;
    b.shape[b.rank - 1] *= 2;
    b.strides[b.rank - 1] = 1;
    b.strides[b.rank - 2] = b.shape[b.rank - 1];
    a.dtype = b.dtype = out.dtype = dtype_of<T>;
    a.item_size = b.item_size = out.item_size = sizeof(T);
    b.prepared = true;
    call.in = in;
    call.out = &out;
  }
  RealProduct(const RealProduct&) = delete;
};

// Packs panels [first, last) of the real form of a complex K x N matrix.
template <class T>
void pack_complex_panels(const Complex<T>* b, int64_t k_stride, int64_t n_stride, int64_t k, int64_t n, int64_t first,
                         int64_t last, T* to) {
  constexpr int64_t width = Tile<T>::columns / 2;
  static_assert(Tile<T>::columns % 2 == 0);
  for (int64_t panel = first; panel < last; ++panel) {
    const Complex<T>* from = b + panel * width * n_stride;
    const int64_t count = smaller(width, n - panel * width);
    auto* row = reinterpret_cast<Complex<T>*>(to + panel * 2 * width * 2 * k);
    for (int64_t i = 0; i < k; ++i, from += k_stride, row += 2 * width) {
      if (count == width && n_stride == 1) {
        for (int64_t j = 0; j < width; ++j) row[j] = from[j];
      } else {
        for (int64_t j = 0; j < width; ++j) row[j] = j < count ? from[j * n_stride] : Complex<T>(0);
      }
      for (int64_t j = 0; j < width; ++j) row[width + j] = {-row[j].imaginary, row[j].real};
    }
  }
}

template <class T>
uint64_t packed_complex_bytes(const Product& p) {
  return static_cast<uint64_t>(packed_elements<T>(2 * p.k, 2 * p.n)) * sizeof(T);
}

template <class T>
uint64_t complex_scratch(const Call& call) {
  if (call.in[1].prepared) return 0;
  const Product p = product_of(call);
  return packed_complex_bytes<T>(p) * static_cast<uint64_t>(p.shared_b ? 1 : p.batches);
}

template <class T>
fe_error* multiply_complex(const Call& call) {
  const Product p = product_of(call);
  if (is_empty(p)) return nullptr;
  RealProduct<T> real(call);
  if (!call.in[1].prepared) {
    const auto* const b = reinterpret_cast<const Complex<T>*>(call.in[1].data);
    T* const to = reinterpret_cast<T*>(call.scratch);
    const int64_t panels = ceil_div(2 * p.n, Tile<T>::columns), matrices = p.shared_b ? 1 : p.batches;
    const int64_t grain = larger(1, 65536 / larger(1, 2 * p.k * Tile<T>::columns));
    fe_error* error = parallel(call, matrices * panels, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t matrix = i / panels, panel = i % panels;
        pack_complex_panels(b + p.offset(p.b_batch, matrix), p.b_row, p.b_column, p.k, p.n, panel, panel + 1,
                            to + matrix * packed_elements<T>(2 * p.k, 2 * p.n));
      }
    });
    if (error != nullptr) return error;
    real.in[1].data = call.scratch;
  }
  return multiply<T>(real.call);
}

uint64_t complex_scratch_size(const Call& call) {
  return call.in[0].dtype == DType::c64 ? complex_scratch<float>(call) : complex_scratch<double>(call);
}
LocalScratch complex_local_scratch(const Call& call) {
  if (call.in[0].dtype == DType::c64) return local_of<float>(RealProduct<float>(call).call);
  return local_of<double>(RealProduct<double>(call).call);
}

uint64_t complex_prepare_size(const Call& call, uint32_t input, char* key, size_t key_capacity) {
  if (input != 1 || call.in[1].rank < 1) return 0;
  const Product p = product_of(call);
  if (!p.shared_b || p.k == 0 || p.n == 0) return 0;
  const bool single = call.in[0].dtype == DType::c64;
  snprintf(key, key_capacity, "matmul/complex panels%d/%s/k%lld:%lld/n%lld:%lld",
           static_cast<int>(single ? Tile<float>::columns : Tile<double>::columns), single ? "c64" : "c128",
           static_cast<long long>(p.k), static_cast<long long>(p.b_row), static_cast<long long>(p.n),
           static_cast<long long>(p.b_column));
  return single ? packed_complex_bytes<float>(p) : packed_complex_bytes<double>(p);
}
template <class T>
void prepare_complex_panels(const Call& call, void* to) {
  const Product p = product_of(call);
  pack_complex_panels(reinterpret_cast<const Complex<T>*>(call.in[1].data), p.b_row, p.b_column, p.k, p.n, 0,
                      ceil_div(2 * p.n, Tile<T>::columns), static_cast<T*>(to));
}
void prepare_complex(const Call& call, uint32_t, void* to) {
  call.in[0].dtype == DType::c64 ? prepare_complex_panels<float>(call, to) : prepare_complex_panels<double>(call, to);
}

bool accepts(const Call& call) {
  return call.in_count >= 2 && call.in[0].dtype == call.in[1].dtype && call.in[0].rank > 0 && call.in[1].rank > 0;
}

}  // namespace

KERNEL(matmul, .dtypes = f32 | f64, .takes_epilogue = true, .accepts = accepts, .scratch_size = scratch_size,
       .local_scratch = local_scratch, .prepare_size = prepare_size, .prepare = prepare) {
  return call.in[0].dtype == DType::f32 ? multiply<float>(call) : multiply<double>(call);
}

KERNEL(complex_matmul, .op = "matmul", .dtypes = complex_dtypes, .layouts = {FE_LAYOUT_CONTIGUOUS}, .accepts = accepts,
       .scratch_size = complex_scratch_size, .local_scratch = complex_local_scratch,
       .prepare_size = complex_prepare_size, .prepare = prepare_complex) {
  return call.in[0].dtype == DType::c64 ? multiply_complex<float>(call) : multiply_complex<double>(call);
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
