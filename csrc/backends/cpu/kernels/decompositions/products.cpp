// Products of matrices inside decompositions. Both factors are packed into tiles, as in ../gemm.h.
#include "products.h"

#include "../gemm.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// Real numbers use the microkernel of matmul.
template <class T>
struct Micro {
  static constexpr int64_t rows = Tile<T>::rows, columns = Tile<T>::columns, depth = Tile<T>::max_depth;

  static void run(bool accumulate, int64_t height, const T* a, const T* b, int64_t k, T* c, int64_t ldc,
                  int64_t width) {
    const TileFunction<T> tile = accumulate ? tile_for<T, true>(height) : tile_for<T, false>(height);
    tile(a, b, columns, k, c, ldc, width);
  }
};

// A microkernel for complex numbers: the real and the imaginary parts of A are multiplied by B, and the two sums are
// combined at the end.
template <class R, int height>
HWY_NOINLINE void complex_tile(bool accumulate, const Cx<R>* HWY_RESTRICT a, int64_t stride,
                               const Cx<R>* HWY_RESTRICT b, int64_t depth, Cx<R>* HWY_RESTRICT c, int64_t ldc,
                               int64_t width) {
  const Full<R> d;
  using V = hn::VFromD<Full<R>>;
  constexpr int64_t n = lanes_of<R>;
  V by_real[height][2], by_imaginary[height][2];
#pragma GCC unroll 8
  for (int i = 0; i < height; ++i)
    by_real[i][0] = by_real[i][1] = by_imaginary[i][0] = by_imaginary[i][1] = hn::Zero(d);
  for (int64_t k = 0; k < depth; ++k) {
    const V b0 = hn::LoadU(d, &b->re), b1 = hn::LoadU(d, &b->re + n);
#pragma GCC unroll 8
    for (int i = 0; i < height; ++i) {
      const V re = hn::Set(d, a[i].re), im = hn::Set(d, a[i].im);
      by_real[i][0] = hn::MulAdd(re, b0, by_real[i][0]);
      by_real[i][1] = hn::MulAdd(re, b1, by_real[i][1]);
      by_imaginary[i][0] = hn::MulAdd(im, b0, by_imaginary[i][0]);
      by_imaginary[i][1] = hn::MulAdd(im, b1, by_imaginary[i][1]);
    }
    a += stride;
    b += n;
  }
#pragma GCC unroll 8
  for (int i = 0; i < height; ++i) {
    alignas(64) R lanes[2 * n];
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) {
      const V turned = swapped_pairs(d, by_imaginary[i][j]);
      hn::Store(hn::OddEven(hn::Add(by_real[i][j], turned), hn::Sub(by_real[i][j], turned)), d, lanes + j * n);
    }
    R* const to = &c[i * ldc].re;
    if (accumulate)
      for (int64_t j = 0; j < 2 * width; ++j) to[j] += lanes[j];
    else
      for (int64_t j = 0; j < 2 * width; ++j) to[j] = lanes[j];
  }
}
template <class R>
struct Micro<Cx<R>> {
  using T = Cx<R>;
  static constexpr int64_t rows = HWY_MAX_BYTES == 64 ? 7 : HWY_MAX_BYTES == 32 ? 3 : 2;
  static constexpr int64_t columns = static_cast<int64_t>(lanes_of<R>);
  static constexpr int64_t depth = 1536 / static_cast<int64_t>(sizeof(T));

  static void run(bool accumulate, int64_t height, const T* a, const T* b, int64_t k, T* c, int64_t ldc,
                  int64_t width) {
    switch (height) {
      case 1:
        return complex_tile<R, 1>(accumulate, a, rows, b, k, c, ldc, width);
      case 2:
        return complex_tile<R, 2>(accumulate, a, rows, b, k, c, ldc, width);
#if HWY_MAX_BYTES >= 32
      case 3:
        return complex_tile<R, 3>(accumulate, a, rows, b, k, c, ldc, width);
#endif
#if HWY_MAX_BYTES >= 64
      case 4:
        return complex_tile<R, 4>(accumulate, a, rows, b, k, c, ldc, width);
      case 5:
        return complex_tile<R, 5>(accumulate, a, rows, b, k, c, ldc, width);
      case 6:
        return complex_tile<R, 6>(accumulate, a, rows, b, k, c, ldc, width);
      case 7:
        return complex_tile<R, 7>(accumulate, a, rows, b, k, c, ldc, width);
#endif
      default:
        return;
    }
  }
};

// to[k * pitch + i] = from(i, k), negated if `negate`; zeros up to the pitch.
template <class T>
void pack_part(const T* from, int64_t row, int64_t column, bool conjugated, bool negate, int64_t rows, int64_t depth,
               T* to, int64_t pitch) {
  if constexpr (is_complex_number<T>) {
    for (int64_t k = 0; k < depth; ++k) {
      for (int64_t i = 0; i < rows; ++i) {
        T x = from[i * row + k * column];
        if (conjugated) x = conj(x);
        to[k * pitch + i] = negate ? -x : x;
      }
      for (int64_t i = rows; i < pitch; ++i) to[k * pitch + i] = T{};
    }
  } else {
    pack<T, true>(from, row, column, rows, depth, to, pitch);
    if (negate)
      for (int64_t i = 0; i < depth * pitch; ++i) to[i] = -to[i];
  }
}

}  // namespace

template <class T>
int64_t packed_size(int64_t m, int64_t n, int64_t k) {
  return (round_up(m, Micro<T>::rows) + round_up(n, Micro<T>::columns)) * k + 64;
}

template <class T>
void multiply(Team& team, int64_t m, int64_t n, int64_t k, Factor<T> a, Factor<T> b, T* c, int64_t ldc, Store store,
              T* packed) {
  using M = Micro<T>;
  if (m <= 0 || n <= 0) return;
  if (k <= 0) {
    if (store == Store::replace)
      for (int64_t i = 0; i < m; ++i) memset(static_cast<void*>(c + i * ldc), 0, static_cast<size_t>(n) * sizeof(T));
    return;
  }
  // Blocks of the depth, of equal size and as few as M::depth allows.
  const int64_t blocks = ceil_div(k, M::depth), depth = ceil_div(k, blocks);
  const int64_t tiles = ceil_div(m, M::rows), panels = ceil_div(n, M::columns);
  T* const packed_b = packed;
  T* const packed_a = packed + round_up(panels * M::columns * k, 64 / static_cast<int64_t>(sizeof(RealOf<T>)));
  // A block of the depth starts at `first * (all rows)`, a tile in it at `tile * M::rows * (its depth)`.
  const int64_t grain = larger(1, 32768 / (M::columns * k));
  team.run(panels, grain, [&](int64_t begin, int64_t end) {
    for (int64_t first = 0; first < k; first += depth) {
      const int64_t part = smaller(depth, k - first);
      for (int64_t panel = begin; panel < end; ++panel) {
        const int64_t column = panel * M::columns;
        pack_part(b.at + first * b.row + column * b.column, b.column, b.row, b.conjugated, false,
                  smaller(M::columns, n - column), part,
                  packed_b + first * panels * M::columns + panel * M::columns * part, M::columns);
      }
    }
  });
  team.run(tiles, larger(1, 65536 / (M::rows * k)), [&](int64_t begin, int64_t end) {
    for (int64_t first = 0; first < k; first += depth) {
      const int64_t part = smaller(depth, k - first);
      for (int64_t tile = begin; tile < end; ++tile) {
        const int64_t row = tile * M::rows;
        pack_part(a.at + row * a.row + first * a.column, a.row, a.column, a.conjugated, store == Store::subtract,
                  smaller(M::rows, m - row), part, packed_a + first * tiles * M::rows + tile * M::rows * part, M::rows);
      }
    }
  });
  // Tasks are groups of tiles and panels with enough work for a thread.
  const int64_t group = larger(1, 512 / M::columns), groups = ceil_div(panels, group);
  const int64_t work = larger(1, 400000 / (M::rows * group * M::columns * k));
  team.run(tiles * groups, work, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t tile = task / groups, row = tile * M::rows, height = smaller(M::rows, m - row);
      const int64_t first_panel = task % groups * group, last_panel = smaller(panels, first_panel + group);
      for (int64_t first = 0; first < k; first += depth) {
        const int64_t part = smaller(depth, k - first);
        const T* const tile_of_a = packed_a + first * tiles * M::rows + tile * M::rows * part;
        for (int64_t panel = first_panel; panel < last_panel; ++panel) {
          const int64_t column = panel * M::columns;
          M::run(store != Store::replace || first > 0, height, tile_of_a,
                 packed_b + first * panels * M::columns + panel * M::columns * part, part, c + row * ldc + column, ldc,
                 smaller(M::columns, n - column));
        }
      }
    }
  });
}

#define INSTANTIATE(T)                                                                                       \
  template void multiply<T>(Team&, int64_t, int64_t, int64_t, Factor<T>, Factor<T>, T*, int64_t, Store, T*); \
  template int64_t packed_size<T>(int64_t, int64_t, int64_t);
INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE(Cx<float>)
INSTANTIATE(Cx<double>)
#undef INSTANTIATE

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
