// Tangent, inverse trigonometric, hyperbolic and inverse hyperbolic functions of float32, computed in float64 lanes to
// about 40 bits and rounded once. Polynomials: minimax fits of (atan(x) - x) / x^3 and (asin(x) - x) / x^3 in x^2.
#pragma once

#include "vector_math.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {
namespace math {

constexpr double pi = 3.14159265358979323846;

// atan(y / x) for 0 <= y and 0 <= x: an angle from 0 to pi / 2, 0 where both are 0. Error below 2^-41.
template <class D, class V>
HWY_INLINE V angle_wide(D d, V y, V x) {
  const V low = hn::Min(y, x), high = hn::Max(hn::Max(y, x), hn::Set(d, 1e-300));
  const auto is_far = hn::Gt(low, hn::Mul(high, hn::Set(d, 0.41421356237309503)));  // tan(pi / 8)
  const V t =
      hn::Div(hn::IfThenElse(is_far, hn::Sub(low, high), low), hn::IfThenElse(is_far, hn::Add(low, high), high));
  const V z = hn::Mul(t, t);
  const V p = polynomial(d, z, hn::Set(d, 0.032982613331036894516), -0.060288705323406683534, 0.076051720275286606416,
                         -0.090841458257610530851, 0.11110822382812158702, -0.14285708187526325604,
                         0.19999999950694457243, -0.33333333333267698693);
  V angle = hn::MulAdd(hn::Mul(t, z), p, t);
  angle = hn::Add(angle, hn::IfThenElseZero(is_far, hn::Set(d, pi / 4)));
  return hn::IfThenElse(hn::Gt(y, x), hn::Sub(hn::Set(d, pi / 2), angle), angle);
}
template <class V>
HWY_INLINE V atan(Full<float> d, V x) {
  const V y = wide(d, hn::Abs(x),
                   [](auto dd, auto v) HWY_ATTR { return angle_wide(dd, at_most(dd, 1e200, v), hn::Set(dd, 1.0)); });
  return hn::CopySign(hn::IfThenElse(hn::IsNaN(x), x, y), x);
}
// The angle of the point (x, y), from -pi to pi; the signs of zeros count.
template <class V>
HWY_INLINE V atan2(Full<float> d, V y, V x) {
  const V angle = wide(d, y, x, [](auto dd, auto b, auto a) HWY_ATTR {
    const auto limit = [&](auto v) HWY_ATTR { return at_most(dd, 1e200, hn::Abs(v)); };  // infinite ones are equal
    const auto first = angle_wide(dd, limit(b), limit(a));
    const auto is_left = hn::Lt(hn::CopySign(hn::Set(dd, 1.0), a), hn::Zero(dd));
    return hn::IfThenElse(is_left, hn::Sub(hn::Set(dd, pi), first), first);
  });
  const auto is_nan = hn::Or(hn::IsNaN(x), hn::IsNaN(y));
  return hn::IfThenElse(is_nan, hn::Add(x, y), hn::CopySign(angle, y));
}

// asin(s) for 0 <= s <= 1/2, with z = s^2.
template <class D, class V>
HWY_INLINE V asin_reduced(D d, V s, V z) {
  const V p = polynomial(d, z, hn::Set(d, 0.028470111888661865073), 0.00094544817690664014154, 0.016913117483340241068,
                         0.016892438098667362984, 0.022413602669277214009, 0.03037987089129135395,
                         0.044642908759522384659, 0.07499999950760591976, 0.16666666666743715819);
  return hn::MulAdd(hn::Mul(s, z), p, s);
}
// asin(|x|), or pi / 2 minus it; NaN beyond 1. Above 1/2 both come from asin(sqrt((1 - |x|) / 2)).
template <bool complement, class D, class V>
HWY_INLINE V asin_wide(D d, V x) {
  const V half = hn::Set(d, 0.5);
  const auto is_far = hn::Gt(x, half);
  const V z = hn::IfThenElse(is_far, hn::NegMulAdd(half, x, half), hn::Mul(x, x));
  const V s = hn::IfThenElse(is_far, hn::Sqrt(z), x);
  const V angle = asin_reduced(d, s, z);
  const V twice = hn::Add(angle, angle), rest = hn::Set(d, pi / 2);
  return complement ? hn::IfThenElse(is_far, twice, hn::Sub(rest, angle))
                    : hn::IfThenElse(is_far, hn::Sub(rest, twice), angle);
}
template <class V>
HWY_INLINE V asin(Full<float> d, V x) {
  return hn::CopySign(wide(d, hn::Abs(x), [](auto dd, auto v) HWY_ATTR { return asin_wide<false>(dd, v); }), x);
}
template <class V>
HWY_INLINE V acos(Full<float> d, V x) {
  return wide(d, x, [](auto dd, auto v) HWY_ATTR {
    const auto angle = asin_wide<true>(dd, hn::Abs(v));
    return hn::IfThenElse(hn::Lt(v, hn::Zero(dd)), hn::Sub(hn::Set(dd, pi), angle), angle);
  });
}

template <class V>
HWY_INLINE V tan(Full<float> d, V x) {
  const V y =
      wide(d, x, [](auto dd, auto v) HWY_ATTR { return hn::Div(sine_wide<false>(dd, v), sine_wide<true>(dd, v)); });
  const V signed_zero = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), x, y);
  return repair(d, hn::Not(hn::Lt(hn::Abs(x), hn::Set(d, 0x1p20f))), signed_zero, x,
                [](float v) { return static_cast<float>(::tan(static_cast<double>(v))); });
}

// (e^x - e^-x) / 2 for x >= 0; near 0 by its series.
template <class V>
HWY_INLINE V sinh(Full<float> d, V x) {
  const V y = wide(d, hn::Abs(x), [](auto dd, auto v) HWY_ATTR {
    const auto e = exp_wide(dd, v);
    const auto far = hn::Mul(hn::Set(dd, 0.5), hn::Sub(e, hn::Div(hn::Set(dd, 1.0), e)));
    const auto z = hn::Mul(v, v);
    const auto p = polynomial(dd, z, hn::Set(dd, 1.0 / 362880.0), 1.0 / 5040.0, 1.0 / 120.0, 1.0 / 6.0);
    return hn::IfThenElse(hn::Lt(v, hn::Set(dd, 0.25)), hn::MulAdd(hn::Mul(v, z), p, v), far);
  });
  return hn::CopySign(y, x);
}
template <class V>
HWY_INLINE V cosh(Full<float> d, V x) {
  return wide(d, x, [](auto dd, auto v) HWY_ATTR {
    const auto e = exp_wide(dd, v);
    return hn::Mul(hn::Set(dd, 0.5), hn::Add(e, hn::Div(hn::Set(dd, 1.0), e)));
  });
}

// log(1 + x + sqrt(x^2 + 1)) in a form that keeps the digits of small x.
template <class V>
HWY_INLINE V asinh(Full<float> d, V x) {
  const V y = wide(d, hn::Abs(x), [](auto dd, auto v) HWY_ATTR {
    const auto z = hn::Mul(v, v), one = hn::Set(dd, 1.0);
    return log1p_wide(dd, hn::Add(v, hn::Div(z, hn::Add(one, hn::Sqrt(hn::Add(one, z))))));
  });
  const auto is_finite = hn::Lt(hn::Abs(x), hn::Inf(d));
  return hn::CopySign(hn::IfThenElse(is_finite, y, hn::Abs(x)), x);
}
template <class V>
HWY_INLINE V acosh(Full<float> d, V x) {
  const V y = wide(d, x, [](auto dd, auto v) HWY_ATTR {
    const auto t = hn::Sub(v, hn::Set(dd, 1.0));
    return log1p_wide(dd, hn::Add(t, hn::Sqrt(hn::Mul(t, hn::Add(t, hn::Set(dd, 2.0))))));
  });
  const V known = hn::IfThenElse(hn::Eq(x, hn::Inf(d)), x, y);
  return hn::IfThenElse(hn::Ge(x, hn::Set(d, 1.0f)), known, hn::NaN(d));
}
template <class V>
HWY_INLINE V atanh(Full<float> d, V x) {
  const V y = wide(d, hn::Abs(x), [](auto dd, auto v) HWY_ATTR {
    return hn::Mul(hn::Set(dd, 0.5), log1p_wide(dd, hn::Div(hn::Add(v, v), hn::Sub(hn::Set(dd, 1.0), v))));
  });
  const V one = hn::Set(d, 1.0f), known = hn::IfThenElse(hn::Eq(hn::Abs(x), one), hn::Inf(d), y);
  return hn::CopySign(hn::IfThenElse(hn::Le(hn::Abs(x), one), known, hn::NaN(d)), x);
}

}  // namespace math
}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
