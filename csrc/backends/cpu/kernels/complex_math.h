// Elementary functions of complex numbers in double precision.
//
// Branch cuts and special cases are those of C (ISO/IEC 9899:2018, annex G), as the Python array API standard demands.
// The formulas: W. Kahan, Branch cuts for complex elementary functions (1987), for sqrt, tanh and atanh; T. E. Hull, T.
// F. Fairgrieve and P. T. P. Tang, Implementing the complex arcsine and arccosine functions using exception handling
// (1997).
#pragma once

#include <numbers>

#include "complex.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {
namespace complex_math {

constexpr double epsilon = 0x1p-52, half_pi = std::numbers::pi / 2;

inline bool is_nan(double x) { return x != x; }
inline bool is_infinite(double x) { return __builtin_fabs(x) == HUGE_VAL; }
inline bool is_finite(double x) { return x - x == 0; }
inline double with_sign(double magnitude, double sign) { return __builtin_copysign(magnitude, sign); }
inline Complex128 swapped(Complex128 z) { return {z.imaginary, z.real}; }
inline double not_a_number() { return __builtin_nan(""); }

// A number as the sum of two doubles.
struct Pair {
  double high, low;
};
// a + b, exactly (Knuth).
inline Pair exact_sum(double a, double b) {
  const double sum = a + b, part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}
// a^2, exactly (Dekker 1971); |a| is neither close to the least nor to the greatest number.
inline Pair exact_square(double a) {
  const double split = a * 134217729.0, high = split - (split - a), low = a - high, square = a * a;
  return {square, ((high * high - square) + 2 * high * low) + low * low};
}
// start + x^2 + y^2 with little more than one rounding, although they cancel.
inline double sum_with_squares(double start, double more, double x, double y) {
  const Pair xx = exact_square(x), yy = exact_square(y);
  const Pair first = exact_sum(start, more), second = exact_sum(first.high, xx.high),
             third = exact_sum(second.high, yy.high);
  return third.high + (((xx.low + yy.low) + (first.low + second.low)) + third.low);
}

// The logarithm of |z|.
inline double log_of_magnitude(Complex128 z) {
  const double a = __builtin_fabs(z.real), b = __builtin_fabs(z.imaginary);
  const double large = a > b ? a : b, small = a > b ? b : a;
  if (is_infinite(a) || is_infinite(b)) return HUGE_VAL;
  if (is_nan(a) || is_nan(b)) return not_a_number();
  if (large > 1e300) return ::log(magnitude(a / 4, b / 4)) + 2 * std::numbers::ln2;
  if (large < 1e-290)
    return large == 0 ? -HUGE_VAL : ::log(magnitude(a * 0x1p200, b * 0x1p200)) - 200 * std::numbers::ln2;
  if (large > 0.5 && large < 1.5 && small < 1.5) {
    const double rough = a * a + b * b;
    if (rough > 0.5 && rough < 2) {
      if (small < 1e-140) return ::log1p((large - 1) * (large + 1)) / 2;
      return ::log1p(sum_with_squares(-1, 0, large, small)) / 2;
    }
  }
  return ::log(magnitude(a, b));
}

struct Log {
  Complex128 operator()(Complex128 z) const { return {log_of_magnitude(z), ::atan2(z.imaginary, z.real)}; }
};
// The logarithm to another base: `factor` is 1 / log(base).
inline Complex128 scaled_log(Complex128 z, double factor) {
  const Complex128 natural = Log{}(z);
  return {natural.real * factor, natural.imaginary * factor};
}
struct Log2 {
  Complex128 operator()(Complex128 z) const { return scaled_log(z, std::numbers::log2e); }
};
struct Log10 {
  Complex128 operator()(Complex128 z) const { return scaled_log(z, std::numbers::log10e); }
};
struct Log1p {
  Complex128 operator()(Complex128 z) const {
    const double x = z.real, y = z.imaginary;
    const bool is_small = __builtin_fabs(x) < 0.5 && __builtin_fabs(y) < 0.5;
    if (!is_small) {
      // 1 + z is rounded; its magnitude is near 1 only where the imaginary part of the result is large.
      const Complex128 log = Log{}({1 + x, y});
      return {log.real, log.imaginary};
    }
    const bool is_tiny = __builtin_fabs(x) < 1e-140 && __builtin_fabs(y) < 1e-140;
    // A zero is positive: 0 + 0 i is log(1).
    return {is_tiny ? x + 0.0 : ::log1p(sum_with_squares(2 * x, 0, x, y)) / 2, ::atan2(y, 1 + x)};
  }
};

// factor * e^x * (a + i b), where e^x may overflow although the product does not, and a or b may be subnormal.
inline Complex128 times_exp(double x, double a, double b, double factor = 1) {
  if (x < 709 || x == HUGE_VAL) {
    const double e = ::exp(x) * factor;
    return {e * a, e * b};
  }
  const double part = ::exp(x - 512), rest = ::exp(512.0) * factor;  // x - 512 is exact
  return {part * a * rest, part * b * rest};
}

struct Exp {
  Complex128 operator()(Complex128 z) const {
    const double x = z.real, y = z.imaginary;
    if (y == 0) return {::exp(x), y};
    if (!is_finite(y)) {
      if (x == HUGE_VAL) return {x, y - y};
      if (x == -HUGE_VAL) return {0, with_sign(0, y)};
      return {y - y, y - y};
    }
    if (is_nan(x)) return {x, x};
    return times_exp(x, ::cos(y), ::sin(y));
  }
};
struct Expm1 {
  Complex128 operator()(Complex128 z) const {
    const double x = z.real, y = z.imaginary;
    if (y == 0) return {::expm1(x) + 0.0, y};  // +0 of -0
    if (!is_finite(x) || !is_finite(y) || __builtin_fabs(x) > 1) {
      const Complex128 e = Exp{}(z);
      return {e.real - 1, e.imaginary};
    }
    const double half = ::sin(y / 2);
    return {::expm1(x) * ::cos(y) - 2 * half * half + 0.0, ::exp(x) * ::sin(y)};
  }
};

struct Sqrt {
  Complex128 operator()(Complex128 z) const {
    double x = z.real, y = z.imaginary, back = 1;
    if (x == 0 && y == 0) return {0, y};
    if (is_infinite(y)) return {HUGE_VAL, y};
    if (is_nan(x)) return {x, not_a_number()};
    if (is_infinite(x))
      return x < 0 ? Complex128{__builtin_fabs(y - y), with_sign(x, y)} : Complex128{x, with_sign(y - y, y)};
    if (is_nan(y)) return {y, y};
    const double size = __builtin_fabs(x) > __builtin_fabs(y) ? __builtin_fabs(x) : __builtin_fabs(y);
    if (size > 0x1p1020) {
      x *= 0x1p-4, y *= 0x1p-4, back = 0x1p2;
    } else if (size < 0x1p-960) {
      x *= 0x1p100, y *= 0x1p100, back = 0x1p-50;
    }
    const double t = ::sqrt((__builtin_fabs(x) + magnitude(x, y)) * 0.5);
    if (x >= 0) return {t * back, y / (2 * t) * back};
    return {__builtin_fabs(y) / (2 * t) * back, with_sign(t, y) * back};
  }
};

// |x| from which e^-|x| no longer changes sinh and cosh.
constexpr double far = 22;

struct Sinh {
  Complex128 operator()(Complex128 z) const {
    const double x = z.real, y = z.imaginary;
    if (y == 0) return {::sinh(x), y};
    if (!is_finite(y)) {
      if (x == 0) return {x, y - y};
      if (is_infinite(x)) return {HUGE_VAL, y - y};
      return {y - y, y - y};
    }
    if (is_nan(x)) return {x, x};
    const double sine = ::sin(y), cosine = ::cos(y);
    if (is_infinite(x)) return {x * cosine, HUGE_VAL * sine};
    if (__builtin_fabs(x) < far) return {::sinh(x) * cosine, ::cosh(x) * sine};
    return times_exp(__builtin_fabs(x), with_sign(cosine, x * cosine), sine, 0.5);
  }
};
struct Cosh {
  Complex128 operator()(Complex128 z) const {
    const double x = z.real, y = z.imaginary;
    if (y == 0) return {::cosh(x), is_nan(x) ? y : with_sign(1, x) * y};
    if (!is_finite(y)) {
      if (x == 0) return {y - y, with_sign(0, x)};
      if (is_infinite(x)) return {HUGE_VAL, y - y};
      return {y - y, y - y};
    }
    if (is_nan(x)) return {x, x};
    const double sine = ::sin(y), cosine = ::cos(y);
    if (is_infinite(x)) return {HUGE_VAL * cosine, x * sine};
    if (__builtin_fabs(x) < far) return {::cosh(x) * cosine, ::sinh(x) * sine};
    return times_exp(__builtin_fabs(x), cosine, with_sign(sine, x * sine), 0.5);
  }
};
struct Tanh {
  Complex128 operator()(Complex128 z) const {
    const double x = z.real, y = z.imaginary;
    if (is_nan(x)) return {x, y == 0 ? y : x};
    if (is_infinite(x)) return {with_sign(1, x), with_sign(0, y)};  // as the standard; C has the sign of sin(2 y)
    if (!is_finite(y)) return {x == 0 ? x : y - y, y - y};
    if (__builtin_fabs(x) >= far) {
      const double e = ::exp(-__builtin_fabs(x));
      return {with_sign(1, x), 4 * ::sin(y) * ::cos(y) * e * e};
    }
    const double t = ::tan(y), beta = 1 + t * t, s = ::sinh(x), rho = ::sqrt(1 + s * s), denominator = 1 + beta * s * s;
    return {beta * rho * s / denominator, t / denominator};
  }
};
struct Sin {
  Complex128 operator()(Complex128 z) const { return swapped(Sinh{}(swapped(z))); }
};
struct Cos {
  Complex128 operator()(Complex128 z) const { return Cosh{}({-z.imaginary, z.real}); }
};
struct Tan {
  Complex128 operator()(Complex128 z) const { return swapped(Tanh{}(swapped(z))); }
};

// Intermediate results for asinh(x + i y), for x and y from 0 on, neither tiny nor huge: the real part, and either b,
// the sine of the imaginary part, or the two arguments of atan2 that give the imaginary part.
struct InverseParts {
  double real, b, opposite, adjacent;
  bool has_b;
};
// (hypot(a, b) - b) / 2 without cancellation, given hypot(a, b).
inline double half_excess(double a, double b, double hypotenuse) {
  if (b < 0) return (hypotenuse - b) / 2;
  if (b == 0) return a / 2;
  return a * a / (hypotenuse + b) / 2;
}
inline InverseParts inverse_parts(double x, double y) {
  const double r = magnitude(x, y + 1), s = magnitude(x, y - 1);
  double a = (r + s) / 2;
  if (a < 1) a = 1;
  InverseParts parts = {};
  if (a < 10) {
    if (y == 1 && x < epsilon * epsilon / 128) {
      parts.real = ::sqrt(x);
    } else if (x >= epsilon * __builtin_fabs(y - 1)) {
      const double less = half_excess(x, 1 + y, r) + half_excess(x, 1 - y, s);
      parts.real = ::log1p(less + ::sqrt(less * (a + 1)));
    } else if (y < 1) {
      parts.real = x / ::sqrt((1 - y) * (1 + y));
    } else {
      parts.real = ::log1p((y - 1) + ::sqrt((y - 1) * (y + 1)));
    }
  } else {
    parts.real = ::log(a + ::sqrt(a * a - 1));
  }
  parts.opposite = y;
  parts.b = y / a;
  parts.has_b = parts.b <= 0.6417;
  if (y < 0x1p-509) {  // y^2 would be subnormal
    parts.has_b = false;
    parts.adjacent = a * (2 / epsilon);
    parts.opposite = y * (2 / epsilon);
  } else if (!parts.has_b) {
    if (y == 1 && x < epsilon / 128) {
      parts.adjacent = ::sqrt(x) * ::sqrt((a + y) / 2);
    } else if (x >= epsilon * __builtin_fabs(y - 1)) {
      const double less = half_excess(x, y + 1, r) + half_excess(x, y - 1, s);
      parts.adjacent = ::sqrt(less * (a + y));
    } else if (y > 1) {
      parts.adjacent = x * (4 / epsilon / epsilon) * y / ::sqrt((y + 1) * (y - 1));
      parts.opposite = y * (4 / epsilon / epsilon);
    } else {
      parts.adjacent = ::sqrt((1 - y) * (1 + y));
    }
  }
  return parts;
}

struct Asinh {
  Complex128 operator()(Complex128 z) const {
    const double x = z.real, y = z.imaginary, a = __builtin_fabs(x), b = __builtin_fabs(y);
    if (is_nan(x) || is_nan(y)) {
      if (is_infinite(x)) return {x, not_a_number()};
      if (is_infinite(y)) return {y, not_a_number()};
      if (y == 0) return {x, y};
      return {not_a_number(), not_a_number()};
    }
    if (a > 1 / epsilon || b > 1 / epsilon)
      return {with_sign(log_of_magnitude({a, b}) + std::numbers::ln2, x), with_sign(::atan2(b, a), y)};
    if (a < 0x1p-28 && b < 0x1p-28) return z;  // the next term is z^3 / 6
    const InverseParts parts = inverse_parts(a, b);
    const double angle = parts.has_b ? ::asin(parts.b) : ::atan2(parts.opposite, parts.adjacent);
    return {with_sign(parts.real, x), with_sign(angle, y)};
  }
};
struct Asin {
  Complex128 operator()(Complex128 z) const { return swapped(Asinh{}(swapped(z))); }
};
struct Acos {
  Complex128 operator()(Complex128 z) const {
    const double x = z.real, y = z.imaginary, a = __builtin_fabs(x), b = __builtin_fabs(y);
    const bool left = __builtin_signbit(x) != 0, below = __builtin_signbit(y) != 0;
    if (is_nan(x) || is_nan(y)) {
      if (is_infinite(x)) return {not_a_number(), below ? HUGE_VAL : -HUGE_VAL};
      if (is_infinite(y)) return {not_a_number(), -y};
      if (x == 0) return {half_pi, not_a_number()};
      return {not_a_number(), not_a_number()};
    }
    if (a > 1 / epsilon || b > 1 / epsilon) {
      const double size = log_of_magnitude({a, b}) + std::numbers::ln2;
      return {__builtin_fabs(::atan2(y, x)), below ? size : -size};
    }
    if (x == 1 && y == 0) return {0, -y};
    if (a < 0x1p-28 && b < 0x1p-28) return {half_pi - x, -y};
    const InverseParts parts = inverse_parts(b, a);
    const double angle = parts.has_b ? ::acos(left ? -parts.b : parts.b)
                                     : ::atan2(parts.adjacent, left ? -parts.opposite : parts.opposite);
    return {angle, below ? parts.real : -parts.real};
  }
};
struct Acosh {
  Complex128 operator()(Complex128 z) const {
    const Complex128 arc = Acos{}(z);
    if (is_nan(arc.real) && is_nan(arc.imaginary)) return arc;
    if (is_nan(arc.real)) return {__builtin_fabs(arc.imaginary), arc.real};
    if (is_nan(arc.imaginary)) return {arc.imaginary, z.real == 0 ? half_pi : arc.imaginary};
    return {__builtin_fabs(arc.imaginary), with_sign(arc.real, z.imaginary)};
  }
};
struct Atanh {
  Complex128 operator()(Complex128 z) const {
    const double x = z.real, y = z.imaginary, a = __builtin_fabs(x), b = __builtin_fabs(y);
    if (y == 0 && a <= 1) return {::atanh(x), y};
    if (x == 0) return {x, ::atan(y)};
    if (is_nan(x) || is_nan(y)) {
      if (is_infinite(x)) return {with_sign(0, x), not_a_number()};
      if (is_infinite(y)) return {with_sign(0, x), with_sign(half_pi, y)};
      return {not_a_number(), not_a_number()};
    }
    if (a > 1 / epsilon || b > 1 / epsilon) {
      const bool is_endless = is_infinite(a) || is_infinite(b);
      const double size = is_endless ? 1 : magnitude(a / 2, b / 2);
      return {is_endless ? with_sign(0, x) : x / 4 / size / size, with_sign(half_pi, y)};
    }
    if (a < 0x1p-28 && b < 0x1p-28) return z;
    const double squares = b < 0x1p-511 ? (a - 1) * (a - 1) : (a - 1) * (a - 1) + b * b;
    const double real = a == 1 && b < epsilon ? (std::numbers::ln2 - ::log(b)) / 2 : ::log1p(4 * a / squares) / 4;
    const double angle = a == 1        ? ::atan2(2, -b)
                         : b < epsilon ? ::atan2(2 * b, (1 - a) * (1 + a))
                                       : ::atan2(2 * b, (1 - a) * (1 + a) - b * b);
    return {with_sign(real, x), with_sign(angle / 2, y)};
  }
};
struct Atan {
  Complex128 operator()(Complex128 z) const { return swapped(Atanh{}(swapped(z))); }
};

// Follows NumPy: computes small integer powers by multiplication; zero to a power that has no limit is NaN.
struct Pow {
  Complex128 operator()(Complex128 z, Complex128 power) const {
    const double n = power.real;
    if (power == Complex128(0)) return {1, 0};
    if (z == Complex128(0)) {
      if (n > 0 && power.imaginary == 0) return {0, 0};
      return {not_a_number(), not_a_number()};
    }
    if (power.imaginary == 0 && n == ::trunc(n) && __builtin_fabs(n) <= 64) {
      Complex128 base = z, result(1);
      for (auto rest = static_cast<uint32_t>(__builtin_fabs(n)); rest != 0; rest >>= 1, base = base * base)
        if (rest & 1) result = result * base;
      return n < 0 ? Complex128(1) / result : result;
    }
    return Exp{}(power * Log{}(z));
  }
};

}  // namespace complex_math
}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
