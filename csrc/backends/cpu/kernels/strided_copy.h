// Copies between strided arrays, by item size; the dtype does not matter.
#pragma once

#include "strided_loops.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

struct Item16 {
  uint64_t half[2];
};

// Calls f with a value of an unsigned type of `size` bytes.
template <class F>
HWY_INLINE void with_item(size_t size, F f) {
  switch (size) {
    case 1:
      f(uint8_t{});
      break;
    case 2:
      f(uint16_t{});
      break;
    case 4:
      f(uint32_t{});
      break;
    case 8:
      f(uint64_t{});
      break;
    default:
      f(Item16{});
      break;
  }
}

// The dimensions of two arrays of one shape, iterated together.
struct PairNest {
  int32_t rank = 0;
  int64_t shape[FE_MAX_RANK], to[FE_MAX_RANK], from[FE_MAX_RANK];
  void add(int64_t size, int64_t to_stride, int64_t from_stride) {
    if (size == 1) return;
    if (rank > 0 && to[rank - 1] == to_stride * size && from[rank - 1] == from_stride * size) {
      shape[rank - 1] *= size;
      to[rank - 1] = to_stride;
      from[rank - 1] = from_stride;
      return;
    }
    shape[rank] = size;
    to[rank] = to_stride;
    from[rank++] = from_stride;
  }
};

// to[i][j] = from[j][i] for a square of at most 16 x 16 items.
template <class T>
HWY_INLINE void transpose_block(T* HWY_RESTRICT to, int64_t to_row, const T* HWY_RESTRICT from, int64_t from_column,
                                int64_t rows, int64_t columns) {
  constexpr int64_t square = sizeof(T) >= 8 ? 8 : 16;
  if (rows == square && columns == square) {
    if constexpr (sizeof(T) == 4) {
      // 4 x 4 at a time. These shuffles are unpacks on every target.
      // A typedef, because Clang ignores the alignment in an alias declaration.
      typedef uint32_t V __attribute__((vector_size(16), aligned(4), may_alias));
      for (int64_t j = 0; j < square; j += 4)
        for (int64_t i = 0; i < square; i += 4) {
          const V a = *reinterpret_cast<const V*>(from + i + j * from_column);
          const V b = *reinterpret_cast<const V*>(from + i + (j + 1) * from_column);
          const V c = *reinterpret_cast<const V*>(from + i + (j + 2) * from_column);
          const V d = *reinterpret_cast<const V*>(from + i + (j + 3) * from_column);
          const V ab0 = __builtin_shufflevector(a, b, 0, 4, 1, 5), ab1 = __builtin_shufflevector(a, b, 2, 6, 3, 7);
          const V cd0 = __builtin_shufflevector(c, d, 0, 4, 1, 5), cd1 = __builtin_shufflevector(c, d, 2, 6, 3, 7);
          *reinterpret_cast<V*>(to + i * to_row + j) = __builtin_shufflevector(ab0, cd0, 0, 1, 4, 5);
          *reinterpret_cast<V*>(to + (i + 1) * to_row + j) = __builtin_shufflevector(ab0, cd0, 2, 3, 6, 7);
          *reinterpret_cast<V*>(to + (i + 2) * to_row + j) = __builtin_shufflevector(ab1, cd1, 0, 1, 4, 5);
          *reinterpret_cast<V*>(to + (i + 3) * to_row + j) = __builtin_shufflevector(ab1, cd1, 2, 3, 6, 7);
        }
      return;
    }
    T block[square][square];
    for (int64_t j = 0; j < square; ++j) __builtin_memcpy(block[j], from + j * from_column, sizeof block[j]);
    for (int64_t i = 0; i < square; ++i)
      for (int64_t j = 0; j < square; ++j) to[i * to_row + j] = block[j][i];
    return;
  }
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) to[i * to_row + j] = from[i + j * from_column];
}

// Copies a plane of rows x columns. If one side is contiguous along columns and the other along rows, it is copied in
// squares that fit in the first-level cache.
template <class T>
HWY_NOINLINE void copy_plane(T* HWY_RESTRICT to, int64_t to_row, int64_t to_column, const T* HWY_RESTRICT from,
                             int64_t from_row, int64_t from_column, int64_t rows, int64_t columns) {
  if (to_column == 1 && from_column == 1) {
    for (int64_t i = 0; i < rows; ++i)
      __builtin_memcpy(to + i * to_row, from + i * from_row, static_cast<size_t>(columns) * sizeof(T));
  } else if (to_column == 1 && from_column == 0) {
    for (int64_t i = 0; i < rows; ++i) {
      const T value = from[i * from_row];
      for (int64_t j = 0; j < columns; ++j) to[i * to_row + j] = value;
    }
  } else if (to_column == 1 && from_row == 1) {
    // Squares of a cache line, inside larger squares whose pages fit in the TLB.
    constexpr int64_t square = sizeof(T) >= 8 ? 8 : 16, large = 128;
    for (int64_t i_large = 0; i_large < rows; i_large += large)
      for (int64_t j_large = 0; j_large < columns; j_large += large) {
        const int64_t i_end = smaller(rows, i_large + large), j_end = smaller(columns, j_large + large);
        for (int64_t j0 = j_large; j0 < j_end; j0 += square)
          for (int64_t i0 = i_large; i0 < i_end; i0 += square)
            transpose_block(to + i0 * to_row + j0, to_row, from + i0 + j0 * from_column, from_column,
                            smaller(square, i_end - i0), smaller(square, j_end - j0));
      }
  } else {
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) to[i * to_row + j * to_column] = from[i * from_row + j * from_column];
  }
}

// to[...] = from[...] over `shape`; both have elements of one size.
[[maybe_unused]] static fe_error* copy_strided(const Call& call, char* to, const int64_t* to_strides, const char* from,
                                               const int64_t* from_strides, const int64_t* shape, int32_t rank,
                                               size_t item_size) {
  PairNest nest;
  for (int32_t i = 0; i < rank; ++i) {
    if (shape[i] == 0) return nullptr;
    nest.add(shape[i], to_strides[i], from_strides[i]);
  }
  while (nest.rank < 2) {  // at least a plane
    for (int32_t i = nest.rank; i > 0; --i) {
      nest.shape[i] = nest.shape[i - 1];
      nest.to[i] = nest.to[i - 1];
      nest.from[i] = nest.from[i - 1];
    }
    nest.shape[0] = 1;
    nest.to[0] = nest.from[0] = 0;
    ++nest.rank;
    if (nest.rank == 1) nest.to[0] = nest.from[0] = 1;
  }
  // The plane: the last dimension of `to`, and the dimension along which `from` is contiguous, if that is another one.
  const int32_t column = nest.rank - 1;
  int32_t row = column - 1;
  if (nest.from[column] != 1)
    for (int32_t i = 0; i < column; ++i)
      if (nest.from[i] == 1) row = i;
  // A single long plane is cut into strips of columns, so that threads can share it.
  int64_t planes = 1;
  for (int32_t i = 0; i < column; ++i)
    if (i != row) planes *= nest.shape[i];
  const int64_t rows = nest.shape[row], columns = nest.shape[column];
  const int64_t item = static_cast<int64_t>(item_size);
  const int64_t row_strip = smaller(rows, larger(128, 262144 / larger(1, columns)));
  const int64_t column_strip = smaller(columns, larger(4096, 262144 / row_strip));
  const int64_t row_strips = ceil_div(rows, row_strip), column_strips = ceil_div(columns, column_strip);
  const int64_t grain = larger(1, 32768 / (row_strip * column_strip));
  return parallel(call, planes * row_strips * column_strips, grain, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t c = task % column_strips * column_strip, r = task / column_strips % row_strips * row_strip;
      int64_t plane = task / column_strips / row_strips;
      int64_t to_at = r * nest.to[row] + c * nest.to[column], from_at = r * nest.from[row] + c * nest.from[column];
      for (int32_t i = column; i-- > 0;) {
        if (i == row) continue;
        to_at += plane % nest.shape[i] * nest.to[i];
        from_at += plane % nest.shape[i] * nest.from[i];
        plane /= nest.shape[i];
      }
      with_item(item_size, [&](auto zero) {
        using T = decltype(zero);
        copy_plane(reinterpret_cast<T*>(to + to_at * item), nest.to[row], nest.to[column],
                   reinterpret_cast<const T*>(from + from_at * item), nest.from[row], nest.from[column],
                   smaller(row_strip, rows - r), smaller(column_strip, columns - c));
      });
    }
  });
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
