// The QR decomposition of one matrix by blocks of Householder reflections.
#pragma once

#include "matrices.h"
#include "reflectors.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// Reduces row-major A (rows x columns) to R in its upper triangle; what is below is left undefined. `reflections` has
// the memory for min(rows, columns) vectors of length `rows`. `work` has qr_work elements.
template <class T>
void decompose_qr(Team& team, T* a, int64_t lda, int64_t rows, int64_t columns, Reflections<T>& reflections, T* work) {
  constexpr int64_t block = Reflections<T>::block;
  for (int64_t first = 0; first < reflections.count && !team.is_stopped(); first += block) {
    const int64_t width = smaller(block, reflections.count - first);
    T* const panel = reflections.v + first * reflections.ldv;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < width; ++j) panel[j * reflections.ldv + i] = a[i * lda + first + j];
    for (int64_t j = 0; j < width; ++j) {
      const int64_t at = first + j;
      T* const vector = panel + j * reflections.ldv;
      RealOf<T> beta;
      reflections.tau[at] = make_reflection(rows - at, vector + at, beta);
      const T tau = conj(reflections.tau[at]);
      for (int64_t k = j + 1; k < width; ++k) {
        T* const other = panel + k * reflections.ldv;
        add_scaled(rows - at, -(tau * dot_with_conj(rows - at, vector + at, other + at)), vector + at, other + at);
      }
      for (int64_t i = first; i < at; ++i) a[i * lda + at] = vector[i];
      a[at * lda + at] = number<T>(beta);
    }
    reflections.prepare(first / block);
    reflections.apply_block(team, first / block, true, a + first + width, lda, columns - first - width, work);
  }
}

// C (rows x columns, the first columns of the identity) times Q.
template <class T>
void make_q(Team& team, const Reflections<T>& reflections, T* q, int64_t ldq, int64_t rows, int64_t columns, T* work) {
  constexpr int64_t block = Reflections<T>::block;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) q[i * ldq + j] = T{};
    if (i < columns) q[i * ldq + i] = number<T>(1);
  }
  // Columns before a block are still those of the identity where the block acts.
  for (int64_t number = ceil_div(reflections.count, block); number-- > 0;) {
    const int64_t first = number * block;
    reflections.apply_block(team, number, false, q + first, ldq, columns - first, work);
  }
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
