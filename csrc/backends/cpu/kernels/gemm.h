// The core of matrix products: a register-blocked microkernel over packed panels, and the packing.
//
// B is packed in panels of `columns` columns, [panel][K][columns], zero-filled at the right edge. This layout does not
// depend on M. A is packed by `rows` rows of one K block into scratch memory of the thread.
//
// Invariance: element (i, j) of the product is, for each K block in order, a chain of multiply-adds from zero along k,
// added to the sum of the earlier blocks. K blocks depend on K alone. So the bits depend only on row i of A, column j
// of B and K, and not on M, N, the element's position, or the threads.
#pragma once

#include "simd.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

template <class T>
struct Tile {
  // AVX-512: 28 accumulators of 32 registers. AVX2: 12 of 16. SSE4: 8 of 16, because each product needs a register
  // where there is no FMA.
  static constexpr int64_t vectors = 2;
  static constexpr int64_t rows = HWY_MAX_BYTES == 64 ? 14 : HWY_MAX_BYTES == 32 ? 6 : 4;
  static constexpr int64_t columns = vectors * static_cast<int64_t>(lanes_of<T>);
  static constexpr int64_t max_depth = 1536 / static_cast<int64_t>(sizeof(T));  // of a K block
};

// The height of the tiles that cover `rows` rows: as few tiles as possible, of equal height. 16 rows are 8 and 8 rather
// than 14 and 2, because a tile of 2 rows waits for the latency of its own multiply-adds.
template <class T>
constexpr int64_t even_rows(int64_t rows) {
  return ceil_div(rows, larger(1, ceil_div(rows, Tile<T>::rows)));
}

// The depth of a K block: the blocks have equal size, and are as few as max_depth allows.
template <class T>
constexpr int64_t depth_of(int64_t k) {
  const int64_t count = larger(1, ceil_div(k, Tile<T>::max_depth));
  return larger(1, ceil_div(k, count));
}

// c[rows][ldc] (+)= a[k][stride rows_packed] * b[k][ldb] for `rows` rows and one panel of columns. `a` is packed with
// Tile::rows elements per step of k, whatever `rows` is. Only the first `width` columns are stored.
template <class T, int rows, bool accumulate>
HWY_INLINE void multiply_tile(const T* HWY_RESTRICT a, const T* HWY_RESTRICT b, int64_t ldb, int64_t depth,
                              T* HWY_RESTRICT c, int64_t ldc, int64_t width) {
  const Full<T> d;
  using V = hn::VFromD<Full<T>>;
  constexpr int64_t n = lanes_of<T>;
  constexpr int64_t stride = Tile<T>::rows;
  V sum[rows][2];
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) sum[i][0] = sum[i][1] = hn::Zero(d);
  for (int64_t k = 0; k < depth; ++k) {
    const V b0 = hn::LoadU(d, b);
    const V b1 = hn::LoadU(d, b + n);
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      const V x = hn::Set(d, a[i]);
      sum[i][0] = hn::MulAdd(x, b0, sum[i][0]);
      sum[i][1] = hn::MulAdd(x, b1, sum[i][1]);
    }
    a += stride;
    b += ldb;
  }
  if (HWY_LIKELY(width == Tile<T>::columns)) {
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      T* row = c + i * ldc;
      if constexpr (accumulate) {
        sum[i][0] = hn::Add(hn::LoadU(d, row), sum[i][0]);
        sum[i][1] = hn::Add(hn::LoadU(d, row + n), sum[i][1]);
      }
      hn::StoreU(sum[i][0], d, row);
      hn::StoreU(sum[i][1], d, row + n);
    }
  } else {
    alignas(64) T lanes[rows][Tile<T>::columns];
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      hn::Store(sum[i][0], d, lanes[i]);
      hn::Store(sum[i][1], d, lanes[i] + n);
    }
    for (int i = 0; i < rows; ++i)
      for (int64_t j = 0; j < width; ++j) c[i * ldc + j] = accumulate ? c[i * ldc + j] + lanes[i][j] : lanes[i][j];
  }
}

template <int n>
struct Number {
  static constexpr int value = n;
};

template <class T>
using TileFunction = void (*)(const T* a, const T* b, int64_t ldb, int64_t depth, T* c, int64_t ldc, int64_t width);

template <class T, int rows, bool accumulate>
HWY_NOINLINE void tile_function(const T* a, const T* b, int64_t ldb, int64_t depth, T* c, int64_t ldc, int64_t width) {
  multiply_tile<T, rows, accumulate>(a, b, ldb, depth, c, ldc, width);
}

// The microkernel for `rows` rows, 1 to Tile::rows.
template <class T, bool accumulate>
TileFunction<T> tile_for(int64_t rows) {
  switch (rows) {
    case 1:
      return tile_function<T, 1, accumulate>;
    case 2:
      return tile_function<T, 2, accumulate>;
    case 3:
      return tile_function<T, 3, accumulate>;
    case 4:
      return tile_function<T, 4, accumulate>;
#if HWY_MAX_BYTES >= 32
    case 5:
      return tile_function<T, 5, accumulate>;
    case 6:
      return tile_function<T, 6, accumulate>;
#endif
#if HWY_MAX_BYTES >= 64
    case 7:
      return tile_function<T, 7, accumulate>;
    case 8:
      return tile_function<T, 8, accumulate>;
    case 9:
      return tile_function<T, 9, accumulate>;
    case 10:
      return tile_function<T, 10, accumulate>;
    case 11:
      return tile_function<T, 11, accumulate>;
    case 12:
      return tile_function<T, 12, accumulate>;
    case 13:
      return tile_function<T, 13, accumulate>;
    case 14:
      return tile_function<T, 14, accumulate>;
#endif
    default:
      return nullptr;
  }
}

// Multiplies one or two rows by several panels at once. One panel alone has too few sums to hide the latency of a
// multiply-add, and reads too few contiguous bytes where B is not packed. Panel p begins at b + p * panel_stride. Each
// element is computed by the operations of multiply_tile, in the same order.
template <class T, int rows, int panels, bool accumulate>
HWY_NOINLINE void wide_tile(const T* HWY_RESTRICT a, const T* HWY_RESTRICT b, int64_t panel_stride, int64_t ldb,
                            int64_t depth, T* HWY_RESTRICT c, int64_t ldc) {
  const Full<T> d;
  using V = hn::VFromD<Full<T>>;
  constexpr int64_t n = lanes_of<T>;
  V sum[rows][2 * panels];
#pragma GCC unroll 2
  for (int i = 0; i < rows; ++i)
#pragma GCC unroll 16
    for (int j = 0; j < 2 * panels; ++j) sum[i][j] = hn::Zero(d);
  for (int64_t k = 0; k < depth; ++k, a += Tile<T>::rows, b += ldb) {
    V x[rows];
#pragma GCC unroll 2
    for (int i = 0; i < rows; ++i) x[i] = hn::Set(d, a[i]);
#pragma GCC unroll 16
    for (int j = 0; j < 2 * panels; ++j) {
      const V y = hn::LoadU(d, b + j / 2 * panel_stride + j % 2 * n);
#pragma GCC unroll 2
      for (int i = 0; i < rows; ++i) sum[i][j] = hn::MulAdd(x[i], y, sum[i][j]);
    }
  }
#pragma GCC unroll 2
  for (int i = 0; i < rows; ++i)
#pragma GCC unroll 16
    for (int j = 0; j < 2 * panels; ++j) {
      T* to = c + i * ldc + j * n;
      hn::StoreU(accumulate ? hn::Add(hn::LoadU(d, to), sum[i][j]) : sum[i][j], d, to);
    }
}

constexpr int64_t wide_rows = 2;  // the most rows of wide_tile
constexpr int wide_panels = HWY_MAX_BYTES >= 64 ? 8 : 4;

// Multiplies whole groups of the `panels` panels, and returns the number of panels done.
template <class T, int rows, bool accumulate>
int64_t multiply_wide(const T* a, const T* b, int64_t panel_stride, int64_t ldb, int64_t depth, T* c, int64_t ldc,
                      int64_t panels) {
  constexpr int most = wide_panels / rows;
  int64_t panel = 0;
  const auto groups_of = [&](auto size) {
    for (; panel + size.value <= panels; panel += size.value)
      wide_tile<T, rows, size.value, accumulate>(a, b + panel * panel_stride, panel_stride, ldb, depth,
                                                 c + panel * Tile<T>::columns, ldc);
  };
  groups_of(Number<most>{});
  if constexpr (most > 2) groups_of(Number<2>{});
  return panel;
}
template <class T>
int64_t multiply_wide(int64_t rows, bool accumulate, const T* a, const T* b, int64_t panel_stride, int64_t ldb,
                      int64_t depth, T* c, int64_t ldc, int64_t panels) {
  const auto run = rows == 1 ? (accumulate ? multiply_wide<T, 1, true> : multiply_wide<T, 1, false>)
                             : (accumulate ? multiply_wide<T, 2, true> : multiply_wide<T, 2, false>);
  return rows > wide_rows ? 0 : run(a, b, panel_stride, ldb, depth, c, ldc, panels);
}

template <class T>
struct FourLanes;
template <>
struct FourLanes<float> {
  typedef float V __attribute__((vector_size(16)));
};
template <>
struct FourLanes<double> {
  typedef double V __attribute__((vector_size(32)));
};

// to[k * to_stride + i] = from[i * from_stride + k] for a square of 4 x 4. These shuffles are unpacks on every target.
template <class T>
HWY_INLINE void transpose_square(const T* from, int64_t from_stride, T* to, int64_t to_stride) {
  typename FourLanes<T>::V in[4], out[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) __builtin_memcpy(&in[i], from + i * from_stride, sizeof in[i]);
  const auto ab0 = __builtin_shufflevector(in[0], in[1], 0, 4, 1, 5),
             ab1 = __builtin_shufflevector(in[0], in[1], 2, 6, 3, 7);
  const auto cd0 = __builtin_shufflevector(in[2], in[3], 0, 4, 1, 5),
             cd1 = __builtin_shufflevector(in[2], in[3], 2, 6, 3, 7);
  out[0] = __builtin_shufflevector(ab0, cd0, 0, 1, 4, 5);
  out[1] = __builtin_shufflevector(ab0, cd0, 2, 3, 6, 7);
  out[2] = __builtin_shufflevector(ab1, cd1, 0, 1, 4, 5);
  out[3] = __builtin_shufflevector(ab1, cd1, 2, 3, 6, 7);
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) __builtin_memcpy(to + i * to_stride, &out[i], sizeof out[i]);
}

// to[k * pitch + i] = from[i * row_stride + k * column_stride] for i < rows, k < depth. If `fills`, zeros follow for
// rows <= i < pitch; else those elements keep their values. The microkernel reads exactly the rows that A has, but
// whole vectors of B.
template <class T, bool fills>
HWY_NOINLINE void pack(const T* from, int64_t row_stride, int64_t column_stride, int64_t rows, int64_t depth, T* to,
                       int64_t pitch) {
  int64_t i = 0;
  if (row_stride == 1) {
    const size_t bytes = static_cast<size_t>(rows) * sizeof(T);
    for (int64_t k = 0; k < depth; ++k) __builtin_memcpy(to + k * pitch, from + k * column_stride, bytes);
    i = rows;
  } else if (column_stride == 1 && rows >= 4) {
    // Four rows at a time; the last four may overlap earlier rows.
    while (i < rows) {
      if (i + 4 > rows) i = rows - 4;
      int64_t k = 0;
      for (; k + 4 <= depth; k += 4) transpose_square(from + i * row_stride + k, row_stride, to + k * pitch + i, pitch);
      for (; k < depth; ++k)
        for (int64_t j = i; j < i + 4; ++j) to[k * pitch + j] = from[j * row_stride + k];
      i += 4;
    }
  }
  for (; i < rows; ++i)
    for (int64_t k = 0; k < depth; ++k) to[k * pitch + i] = from[i * row_stride + k * column_stride];
  if (fills)
    for (; i < pitch; ++i)
      for (int64_t k = 0; k < depth; ++k) to[k * pitch + i] = T(0);
}

// The number of elements of a packed K x N matrix.
template <class T>
constexpr int64_t packed_elements(int64_t k, int64_t n) {
  return round_up(n, Tile<T>::columns) * k;
}

// Packs panels [first, last) of a K x N matrix given by its strides.
template <class T>
void pack_panels(const T* b, int64_t k_stride, int64_t n_stride, int64_t k, int64_t n, int64_t first, int64_t last,
                 T* to) {
  constexpr int64_t columns = Tile<T>::columns;
  for (int64_t panel = first; panel < last; ++panel)
    pack<T, true>(b + panel * columns * n_stride, n_stride, k_stride, smaller(columns, n - panel * columns), k,
                  to + panel * columns * k, columns);
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
