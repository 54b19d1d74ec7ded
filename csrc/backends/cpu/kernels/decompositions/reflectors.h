// Householder reflections I - tau v v^H, and products of many of them in blocks: I - V T V^H (Schreiber & Van Loan
// 1989).
#pragma once

#include "products.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// Makes the reflection H with H^H x = (beta, 0, ...), beta real, of `n` numbers (LAPACK's larfg). x becomes v, whose
// first element is 1. Returns tau, 0 for the identity.
template <class T>
T make_reflection(int64_t n, T* x, RealOf<T>& beta) {
  using R = RealOf<T>;
  R below = n > 1 ? norm(n - 1, x + 1) : R(0);
  T alpha = x[0];
  if (below == 0 && imaginary(alpha) == 0) {
    beta = real(alpha);
    x[0] = number<T>(1);
    return T{};
  }
  const auto length = [&] { return hypotenuse(hypotenuse(real(alpha), imaginary(alpha)), below); };
  R to = -with_sign(length(), real(alpha));
  // A tiny vector is enlarged, so that its inverse is finite.
  constexpr R least = least_normal_of<R> / epsilon_of<R>;
  int scaled = 0;
  // The elements of a huge vector are halved twice, so that their sum is finite.
  const bool is_huge = absolute(to) > R(0.125) / least_normal_of<R> && absolute(to) - absolute(to) == 0;
  if (is_huge) {
    scale(n, number<T>(R(0.25)), x);
    alpha = x[0];
    to *= R(0.25);
  }
  while (absolute(to) < least && scaled < 20) {
    scale(n, number<T>(R(1) / least), x);
    ++scaled;
    alpha = x[0];
    below = n > 1 ? norm(n - 1, x + 1) : R(0);
    to = -with_sign(length(), real(alpha));
  }
  T tau;
  if constexpr (is_complex_number<T>)
    tau = {(to - alpha.re) / to, -alpha.im / to};
  else
    tau = (to - alpha) / to;
  scale(n - 1, inverse(alpha - number<T>(to)), x + 1);
  x[0] = number<T>(1);
  for (; scaled > 0; --scaled) to *= least;
  if (is_huge) to *= 4;
  beta = to;
  return tau;
}

}  // namespace

// Reflections in the order of a decomposition, Q = H_0 H_1 ...: row j of `v` is the vector of H_j, zero before element
// j + offset and 1 there. `tau` has their factors. Blocks of `block` reflections have their T in `t`, which prepare()
// computes.
template <class T>
struct Reflections {
  T* v;
  int64_t ldv;
  T* tau;
  T* t;
  int64_t count, length, offset;

  static constexpr int64_t block = 32;
  static int64_t t_size(int64_t count) { return ceil_div(count, block) * block * block; }

  // Clears what lies before the vectors, and computes T of block `number`.
  void prepare(int64_t number);
  void prepare_all(Team& team);
  // C = Q_b C, or Q_b^H C if `adjoint`, for block `number`. C has `n` columns; its rows are those of the vectors, and
  // those before the first reflection of the block are neither read nor written. `work` has work_size elements.
  void apply_block(Team& team, int64_t number, bool adjoint, T* c, int64_t ldc, int64_t n, T* work) const;
  // C = Q C, or Q^H C.
  void apply(Team& team, bool adjoint, T* c, int64_t ldc, int64_t n, T* work) const;
  static int64_t work_size(int64_t length, int64_t n) {
    return 2 * round_up(block * n, 16) + larger(packed_size<T>(length, n, block), packed_size<T>(block, n, length)) +
           16;
  }
};

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
