// Singular values and vectors of real upper bidiagonal matrices: implicit QR (Golub & Kahan 1965; Demmel & Kahan 1990).
#pragma once

#include "matrices.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// Computes c and s such that c f + s g = r and c g - s f = 0. Returns r.
[[maybe_unused]] static double make_rotation(double f, double g, double& c, double& s) {
  if (g == 0) {
    c = 1;
    s = 0;
    return f;
  }
  const double squares = f * f + g * g;
  const double r = squares > 1e-280 ? root(squares) : hypotenuse(f, g);
  const double inverse_r = 1 / r;
  c = f * inverse_r;
  s = g * inverse_r;
  return r;
}

// d: the diagonal, which becomes the singular values, not negative, in no order. e[i] is at (i, i + 1). Rows of `left`
// (the transposed left vectors) and `right` are rotated along, where they are not null. Returns false if it does not
// converge.
template <class R>
bool iterate_bidiagonal(Team& team, int64_t n, double* d, double* e, R* left, int64_t left_pitch, int64_t left_length,
                        R* right, int64_t right_pitch, int64_t right_length) {
  const auto turn_left = [&](int64_t i, int64_t j, double c, double s) {
    if (left != nullptr)
      rotate(left_length, left + i * left_pitch, left + j * left_pitch, static_cast<R>(c), static_cast<R>(s));
  };
  const auto turn_right = [&](int64_t i, int64_t j, double c, double s) {
    if (right != nullptr)
      rotate(right_length, right + i * right_pitch, right + j * right_pitch, static_cast<R>(c), static_cast<R>(s));
  };
  constexpr double tiny = 1e-300;
  double largest = 0;
  for (int64_t i = 0; i < n; ++i) {
    largest = absolute(d[i]) > largest ? absolute(d[i]) : largest;
    if (i + 1 < n) largest = absolute(e[i]) > largest ? absolute(e[i]) : largest;
  }
  const double negligible = 0.25 * epsilon_of<double> * largest + tiny;
  int64_t end = n - 1;
  for (int64_t iteration = 0; end > 0; ++iteration) {
    if (iteration > 60 * n + 60 || team.is_stopped()) return false;
    const auto is_small = [&](int64_t i) {
      return absolute(e[i]) <= epsilon_of<double> * (absolute(d[i]) + absolute(d[i + 1])) + tiny;
    };
    if (is_small(end - 1)) {
      e[--end] = 0;
      continue;
    }
    int64_t first = end - 1;
    while (first > 0 && !is_small(first - 1)) --first;
    if (first > 0) e[first - 1] = 0;
    // A zero on the diagonal: its row is made zero by rotations with the rows below.
    int64_t zero = -1;
    for (int64_t i = first; i < end; ++i)
      if (absolute(d[i]) <= negligible) zero = i;
    if (zero >= 0) {
      d[zero] = 0;
      double moved = e[zero];
      e[zero] = 0;
      for (int64_t i = zero + 1; i <= end; ++i) {
        double c, s;
        d[i] = make_rotation(d[i], moved, c, s);
        turn_left(i, zero, c, s);
        if (i < end) {
          moved = -s * e[i];
          e[i] = c * e[i];
        }
        if (moved == 0) break;
      }
      continue;
    }
    if (absolute(d[end]) <= negligible) {  // its column is made zero by rotations with the columns before
      d[end] = 0;
      double moved = e[end - 1];
      e[end - 1] = 0;
      for (int64_t i = end - 1; i >= first; --i) {
        double c, s;
        d[i] = make_rotation(d[i], moved, c, s);
        turn_right(i, end, c, s);
        if (i > first) {
          moved = -s * e[i - 1];
          e[i - 1] = c * e[i - 1];
        }
      }
      continue;
    }
    // The shift: the eigenvalue of the last 2 x 2 of B^T B that is nearer to its end.
    const double scale_by = largest;
    const double dl = d[end] / scale_by, dk = d[end - 1] / scale_by, el = e[end - 1] / scale_by,
                 ek = end - 1 > first ? e[end - 2] / scale_by : 0, df = d[first] / scale_by, ef = e[first] / scale_by;
    const double b = ((dk + dl) * (dk - dl) + (ek * ek - el * el)) / 2, product = dk * el, square = product * product;
    // trailing matrix: [dk^2 + ek^2, dk el; dk el, dl^2 + el^2]
    double shift = dl * dl + el * el;
    if (b != 0 || square != 0) {
      const double length = hypotenuse(b, product);
      shift -= square / (b + with_sign(length, b));
    }
    double f = df * df - shift, g = df * ef;
    for (int64_t k = first; k < end; ++k) {
      double c, s;
      double r = make_rotation(f, g, c, s);
      if (k > first) e[k - 1] = r;
      f = c * d[k] + s * e[k];
      e[k] = c * e[k] - s * d[k];
      g = s * d[k + 1];
      d[k + 1] = c * d[k + 1];
      turn_right(k, k + 1, c, s);
      r = make_rotation(f, g, c, s);
      d[k] = r;
      f = c * e[k] + s * d[k + 1];
      d[k + 1] = c * d[k + 1] - s * e[k];
      if (k + 1 < end) {
        g = s * e[k + 1];
        e[k + 1] = c * e[k + 1];
      }
      turn_left(k, k + 1, c, s);
    }
    e[end - 1] = f;
  }
  for (int64_t i = 0; i < n; ++i)
    if (d[i] < 0 || __builtin_signbit(d[i])) {
      d[i] = -d[i];
      if (right != nullptr) scale(right_length, R(-1), right + i * right_pitch);
    }
  return true;
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
