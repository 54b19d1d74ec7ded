// The eigenvalues of diag(d) + rho z z^T, each between two of the ascending d: the roots of
// 1 / rho + sum z_i^2 / (d_i - x) = 0 (Bunch, Nielsen & Sorensen 1978; Li 1993).
#pragma once

#include "scalars.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// Finds root j of `count`, and writes delta[i] = d_i - root, each to full relative precision. Returns the root.
// `gap(i, j)` is d_i - d_j.
[[maybe_unused]] static double find_secular_root(int64_t count, int64_t j, const double* d, const double* z, double rho,
                                                 double* delta) {
  const bool is_last = j == count - 1;
  double squares = 0;
  if (is_last)
    for (int64_t i = 0; i < count; ++i) squares += z[i] * z[i];
  const double width = is_last ? rho * squares : d[j + 1] - d[j];
  const double inverse_rho = 1 / rho;

  struct Sums {
    double below = 0, above = 0, below_slope = 0, above_slope = 0, error = 0;
  };
  const auto evaluate = [&](double origin, double offset) {
    Sums s;
    for (int64_t i = 0; i <= j; ++i) {
      const double distance = (d[i] - origin) - offset, ratio = z[i] / distance;
      delta[i] = distance;
      s.below += z[i] * ratio;
      s.below_slope += ratio * ratio;
    }
    for (int64_t i = j + 1; i < count; ++i) {
      const double distance = (d[i] - origin) - offset, ratio = z[i] / distance;
      delta[i] = distance;
      s.above += z[i] * ratio;
      s.above_slope += ratio * ratio;
    }
    s.error = absolute(s.below) + absolute(s.above) + inverse_rho;
    return s;
  };

  // The nearer of the two poles is the origin of the unknown, so that the distance to it keeps its digits.
  double origin = d[j], low = 0, high = width;
  double offset = width / 2;
  Sums sums = evaluate(origin, offset);
  double value = inverse_rho + sums.below + sums.above;
  if (value >= 0 || is_last) {
    if (value >= 0)
      high = offset;
    else
      low = offset;
  } else {
    origin = d[j + 1];
    offset -= width;
    low = offset;
    high = 0;
  }
  for (int iteration = 0; iteration < 120; ++iteration) {
    if (iteration > 0) {
      sums = evaluate(origin, offset);
      value = inverse_rho + sums.below + sums.above;
      if (value >= 0)
        high = offset;
      else
        low = offset;
    }
    if (absolute(value) <= 4e-16 * sums.error) break;
    double step;
    if (is_last) {
      const double pole = delta[j], c = value - pole * sums.below_slope;
      step = pole + pole * pole * sums.below_slope / c;
    } else {
      const double left = delta[j], right = delta[j + 1];
      const double c = value - left * sums.below_slope - right * sums.above_slope;
      const double a = (left + right) * value - left * right * (sums.below_slope + sums.above_slope);
      const double b = left * right * value;
      const double inside = a * a - 4 * b * c, square = root(inside > 0 ? inside : 0);
      step = a <= 0 ? (a - square) / (2 * c) : 2 * b / (a + square);
    }
    double next = offset + step;
    if (!(next > low && next < high)) next = low + (high - low) / 2;
    if (next == offset || next == low || next == high) break;
    offset = next;
  }
  evaluate(origin, offset);
  return origin + offset;
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
