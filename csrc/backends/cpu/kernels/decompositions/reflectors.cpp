#include "reflectors.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {

template <class T>
void Reflections<T>::prepare(int64_t number) {
  const int64_t first = number * block, last = smaller(count, first + block);
  T* const table = t + number * block * block;  // row-major, upper triangular
  for (int64_t j = first; j < last; ++j) {
    T* const vector = v + j * ldv;
    for (int64_t i = 0; i < j + offset; ++i) vector[i] = T{};
    const int64_t column = j - first;
    const int64_t from = j + offset;
    // T(0:j, j) = -tau_j T(0:j, 0:j) (V^H v_j)
    T products[block];
    for (int64_t i = 0; i < column; ++i)
      products[i] = -(tau[j] * dot_with_conj(length - from, v + (first + i) * ldv + from, vector + from));
    for (int64_t i = 0; i < column; ++i) {
      T sum{};
      for (int64_t k = i; k < column; ++k) sum = sum + table[i * block + k] * products[k];
      table[i * block + column] = sum;
    }
    table[column * block + column] = tau[j];
    for (int64_t i = column + 1; i < block; ++i) table[i * block + column] = T{};
  }
}

template <class T>
void Reflections<T>::prepare_all(Team& team) {
  team.run(ceil_div(count, block), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) prepare(i);
  });
}

template <class T>
void Reflections<T>::apply_block(Team& team, int64_t number, bool adjoint, T* c, int64_t ldc, int64_t n,
                                 T* work) const {
  const int64_t first = number * block, width = smaller(count - first, block);
  const int64_t from = first + offset, rows = length - from;
  if (n <= 0 || rows <= 0 || width <= 0) return;
  const T* const vectors = v + first * ldv + from;
  const T* const table = t + number * block * block;
  T* const at = c + from * ldc;
  T* const projected = work;
  T* const mixed = work + round_up(block * n, 16);
  T* const packed = mixed + round_up(block * n, 16);
  multiply<T>(team, width, n, rows, {vectors, ldv, 1, true}, {at, ldc, 1}, projected, n, Store::replace, packed);
  const Factor<T> factor = adjoint ? Factor<T>{table, 1, block, true} : Factor<T>{table, block, 1, false};
  multiply<T>(team, width, n, width, factor, {projected, n, 1}, mixed, n, Store::replace, packed);
  multiply<T>(team, rows, n, width, {vectors, 1, ldv}, {mixed, n, 1}, at, ldc, Store::subtract, packed);
}

template <class T>
void Reflections<T>::apply(Team& team, bool adjoint, T* c, int64_t ldc, int64_t n, T* work) const {
  const int64_t blocks = ceil_div(count, block);
  for (int64_t i = 0; i < blocks; ++i) apply_block(team, adjoint ? i : blocks - 1 - i, adjoint, c, ldc, n, work);
}

template struct Reflections<float>;
template struct Reflections<double>;
template struct Reflections<Cx<float>>;
template struct Reflections<Cx<double>>;

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
