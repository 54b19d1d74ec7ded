// Reduction of general matrices to Hessenberg form by blocks of Householder reflections (LAPACK's gehrd).
#pragma once

#include "householder_qr.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// Reduces rows and columns [begin, end) of the n x n matrix `a`, which is upper triangular outside of them, to the
// Hessenberg form Q^H a Q. `reflections`, whose offset is begin + 1 and whose length is `end`, becomes Q. Without
// `whole`, only rows and columns [begin, end) of the result are computed. `y` has memory for a block of rows.
template <class T>
void reduce_to_hessenberg(Team& team, T* a, int64_t pitch, int64_t n, int64_t begin, int64_t end, bool whole,
                          Reflections<T>& reflections, T* y, T* work) {
  constexpr int64_t block = Reflections<T>::block;
  const int64_t ldv = reflections.ldv, ldy = pitch_of<T>(n);
  for (int64_t first = 0; first < reflections.count; first += block) {
    const int64_t width = smaller(block, reflections.count - first);
    const int64_t left = begin + first, top = left + 1, rows = end - top;
    T* const vectors = reflections.v + first * ldv;
    for (int64_t j = 0; j < width; ++j) {
      if (team.is_stopped()) return;
      const int64_t column = left + j, below = column + 1, count = end - below;
      T* const x = vectors + j * ldv;
      for (int64_t i = top; i < end; ++i) x[i] = a[i * pitch + column];
      for (int64_t l = 0; l < j; ++l) add_scaled(rows, -conj(vectors[l * ldv + column]), y + l * ldy + top, x + top);
      for (int64_t l = 0; l < j; ++l) {
        const int64_t from = top + l;
        const T* const v = vectors + l * ldv + from;
        const T by = conj(reflections.tau[first + l]) * dot_with_conj(end - from, v, x + from);
        add_scaled(end - from, -by, v, x + from);
      }
      for (int64_t i = top; i < below; ++i) a[i * pitch + column] = x[i];
      RealOf<T> beta;
      const T tau = make_reflection(count, x + below, beta);
      reflections.tau[first + j] = tau;
      a[below * pitch + column] = number<T>(beta);
      for (int64_t i = below + 1; i < end; ++i) a[i * pitch + column] = T{};
      // Column j of Y, which the right side subtracts: a - Y V^H.
      T* const product = y + j * ldy;
      team.run(rows, larger(16, 32768 / count), [&](int64_t from, int64_t to) {
        for (int64_t i = top + from; i < top + to; ++i) product[i] = dot(count, a + i * pitch + below, x + below);
      });
      for (int64_t l = 0; l < j; ++l) {
        const T by = dot_with_conj(count, vectors + l * ldv + below, x + below);
        add_scaled(rows, -by, y + l * ldy + top, product + top);
      }
      scale(rows, tau, product + top);
    }
    const int64_t after = left + width, above = whole ? 0 : begin;
    reflections.prepare(first / block);
    multiply<T>(team, rows, end - after, width, {y + top, 1, ldy}, {vectors + after, ldv, 1, true},
                a + top * pitch + after, pitch, Store::subtract, work);
    // Rows above the block: a (I - V T V^H).
    const T* const table = reflections.t + first * block;
    T* const projected = work;
    T* const mixed = projected + round_up(block * n, 16);
    T* const packed = mixed + round_up(block * n, 16);
    T* const upper = a + above * pitch + top;
    multiply<T>(team, top - above, width, rows, {upper, pitch, 1}, {vectors + top, 1, ldv}, projected, block,
                Store::replace, packed);
    multiply<T>(team, top - above, width, width, {projected, block, 1}, {table, block, 1}, mixed, block, Store::replace,
                packed);
    multiply<T>(team, top - above, rows, width, {mixed, block, 1}, {vectors + top, ldv, 1, true}, upper, pitch,
                Store::subtract, packed);
    reflections.apply_block(team, first / block, true, a + after, pitch, (whole ? n : end) - after, work);
  }
}

template <class T>
int64_t hessenberg_work(int64_t n) {
  constexpr int64_t block = Reflections<T>::block;
  const int64_t packed =
      larger(packed_size<T>(n, block, n), larger(packed_size<T>(n, block, block), packed_size<T>(n, n, block)));
  return larger(2 * round_up(block * n, 16) + packed + 16, Reflections<T>::work_size(n, n));
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
