// cos and sin of 2 pi k / n to the last bit or nearly so: the angle is reduced with integers and kept in two doubles.
#pragma once

#include "../simd.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

struct Turn {
  double cosine, sine;
};

// The product as the sum of two doubles (Dekker 1971): no instruction for it is needed.
HWY_INLINE double product_rest(double a, double b, double product) {
  constexpr double splitter = 134217729.0;
  const double a_high = a * splitter - (a * splitter - a), a_low = a - a_high;
  const double b_high = b * splitter - (b * splitter - b), b_low = b - b_high;
  return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
}

// Valid for 0 <= k <= n / 8. Uses the polynomials of fdlibm for angles up to pi / 4.
HWY_INLINE Turn turn_in_octant(int64_t k, int64_t n) {
  const double numerator = static_cast<double>(k), denominator = static_cast<double>(n);
  const double part = numerator / denominator, back = part * denominator;
  const double rest = ((numerator - back) - product_rest(part, denominator, back)) / denominator;
  constexpr double turn_high = 6.283185307179586, turn_low = 2.4492935982947064e-16;
  const double x = part * turn_high;
  const double y = product_rest(part, turn_high, x) + (part * turn_low + rest * turn_high);
  const double z = x * x, w = z * z;
  const double r = 8.33333333332248946124e-03 + z * (-1.98412698298579493134e-04 + z * 2.75573137070700676789e-06) +
                   z * w * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10);
  const double v = z * x;
  const double sine = x - ((z * (0.5 * y - v * r) - y) - v * -1.66666666666666324348e-01);
  const double s =
      z * (4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * 2.48015872894767294178e-05)) +
      w * w * (-2.75573143513906633035e-07 + z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11));
  const double half = 0.5 * z, one = 1.0 - half;
  return {one + (((1.0 - one) - half) + (z * s - x * y)), sine};
}

// cos and sin of 2 pi k / n for 0 <= k < n.
HWY_INLINE Turn turn_of(int64_t k, int64_t n) {
  bool below = false, left = false, steep = false;
  if (2 * k > n) {
    k = n - k;
    below = true;
  }
  if (4 * k > n) {  // pi - angle, with the denominator 2 n to keep k an integer
    k = n - 2 * k;
    left = true;
  } else {
    k = 2 * k;
  }
  int64_t whole = 2 * n;
  if (8 * k > whole) {  // pi / 2 - angle
    k = whole - 4 * k;
    whole *= 4;
    steep = true;
  }
  Turn turn = turn_in_octant(k, whole);
  if (steep) turn = {turn.sine, turn.cosine};
  return {left ? -turn.cosine : turn.cosine, below ? -turn.sine : turn.sine};
}

// The turns of a length as products of a coarse one and a fine one, in memory that a ScratchArena gives.
struct TurnTable {
  int64_t length = 0;
  int fine_bits = 0;
  Turn *coarse = nullptr, *fine = nullptr;

  TurnTable() = default;
  TurnTable(int64_t turns, ScratchArena& scratch) : length(turns) {
    while ((int64_t{1} << 2 * fine_bits) < length) ++fine_bits;
    fine = scratch.array<Turn>(int64_t{1} << fine_bits);
    coarse = scratch.array<Turn>(ceil_div(length, int64_t{1} << fine_bits));
  }
  void fill() const {
    // A fine turn is kept less 1, so that the product loses no digits.
    for (int64_t k = 0; k < int64_t{1} << fine_bits; ++k) {
      const Turn half = turn_of(k % (2 * length), 2 * length), turn = turn_of(k % length, length);
      fine[k] = {-2 * half.sine * half.sine, turn.sine};
    }
    for (int64_t k = 0; k << fine_bits < length; ++k) coarse[k] = turn_of(k << fine_bits, length);
  }
  // cos and sin of 2 pi k / length, for 0 <= k < length.
  Turn turn(int64_t k) const {
    const Turn a = coarse[k >> fine_bits], b = fine[k & ((int64_t{1} << fine_bits) - 1)];
    return {a.cosine + (a.cosine * b.cosine - a.sine * b.sine), a.sine + (a.sine * b.cosine + a.cosine * b.sine)};
  }
};

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
