// Elementary functions on vectors, correct on the whole domain: infinities, NaN, denormals, signed zeros.
//
// float32: at most 2 ULP. The most frequent functions (exp, tanh, sigmoid, silu) stay in float32 lanes; the others are
// computed in float64 lanes (`wide`), where a plain formula is accurate enough. float64: exp and log at most 2 ULP; the
// others call the C library for each element. Sources: Cephes (exp, log, tanh in float32), FreeBSD msun (log, sin, cos
// in float64), N. Juffa's erf.
#pragma once

#include "simd.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {
namespace math {

template <class D, class V>
HWY_INLINE V polynomial(D, V, V sum) {
  return sum;
}
// Horner: ((sum * x + c0) * x + c1) ...
template <class D, class V, class... C>
HWY_INLINE V polynomial(D d, V x, V sum, hn::TFromD<D> c0, C... rest) {
  return polynomial(d, x, hn::MulAdd(sum, x, hn::Set(d, c0)), rest...);
}

// 2^n for integers n of the normal range, stored as floating point.
template <class D, class V>
HWY_INLINE V power_of_two(D d, V n) {
  const hn::RebindToUnsigned<D> du;
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    return hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(du, hn::Add(n, hn::Set(d, 0x1.8p23f + 127.0f)))));
  } else {
    return hn::BitCast(d, hn::ShiftLeft<52>(hn::BitCast(du, hn::Add(n, hn::Set(d, 0x1.8p52 + 1023.0)))));
  }
}

// v * 2^n in two steps, so that results in the denormal range are rounded once and overflow gives infinity.
template <class D, class V>
HWY_INLINE V scale(D d, V v, V n) {
  const V half = hn::Round(hn::Mul(n, hn::Set(d, hn::TFromD<D>(0.5))));
  return hn::Mul(hn::Mul(v, power_of_two(d, half)), power_of_two(d, hn::Sub(n, half)));
}

// e^r for |r| <= ln(2) / 2
template <class D, class V>
HWY_INLINE V exp_reduced(D d, V r) {
  const V p =
      polynomial(d, r, hn::Set(d, 1.0 / 6227020800.0), 1.0 / 479001600.0, 1.0 / 39916800.0, 1.0 / 3628800.0,
                 1.0 / 362880.0, 1.0 / 40320.0, 1.0 / 5040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5);
  return hn::Add(hn::MulAdd(p, hn::Mul(r, r), r), hn::Set(d, 1.0));
}

// e^x = 2^n (1 + fraction). n is rounded by adding 3 * 2^22, which leaves n + bias in the low bits of `shifted`;
// shifted left by 23, they form an exponent.
template <class V>
struct Exponential {
  V shifted, fraction;

  HWY_INLINE V power() const {  // 2^n, for a bias of 127
    const Full<float> d;
    return hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(hn::RebindToSigned<decltype(d)>(), shifted)));
  }
  HWY_INLINE V times(V v) const {  // v * 2^n for normal results and a bias of 0: adds to the exponent
    const Full<float> d;
    const hn::RebindToSigned<decltype(d)> di;
    return hn::BitCast(d, hn::Add(hn::BitCast(di, v), hn::ShiftLeft<23>(hn::BitCast(di, shifted))));
  }
};
// (e^r - 1 - r) / r^2 for |r| <= ln(2) / 2: minimax of e^r, error 0.05 * 2^-24.
template <class V>
HWY_INLINE V exp_curvature(Full<float> d, V r) {
  return polynomial(d, r, hn::Set(d, 0.00138144779855f), 0.00836878046964f, 0.0416683939957f, 0.166665201074f,
                    0.499999934135f);
}
// e^(sign * x); sign is 1 or -1.
template <int sign = 1, int bias = 0, class V>
HWY_INLINE Exponential<V> exponential(Full<float> d, V x) {
  const V zero = hn::Set(d, 0x1.8p23f + bias);
  const V shifted = hn::MulAdd(x, hn::Set(d, sign * 1.44269504088896341f), zero);
  const V n = hn::Sub(shifted, zero);
  V r = hn::MulAdd(n, hn::Set(d, -0.693359375f), sign > 0 ? x : hn::Neg(x));
  r = hn::MulAdd(n, hn::Set(d, 2.12194440e-4f), r);
  return {shifted, hn::MulAdd(exp_curvature(d, r), hn::Mul(r, r), r)};
}

template <class D, class V>
HWY_INLINE V clamp_keeping_nan(D d, V x, hn::TFromD<D> low, hn::TFromD<D> high) {
  return at_most(d, high, at_least(d, low, x));
}

// x, or the lowest finite number in place of -inf, whose product with 0 is NaN.
template <class V>
HWY_INLINE V at_least_lowest(Full<float> d, V x) {
  return at_least(d, -3.402823466e38f, x);
}

// e^x for x in [-87, 88].
template <class V>
HWY_INLINE V exp_in_range(Full<float> d, V x) {
  const Exponential<V> e = exponential(d, x);
  return e.times(hn::Add(e.fraction, hn::Set(d, 1.0f)));
}

// Returns y for lanes of x in [-87, 87], whose formula ignores the ends of the range, and everywhere() for the others.
template <class V, class F>
HWY_INLINE V unless_far(Full<float> d, V x, V y, F everywhere) {
  const auto near = hn::Le(hn::Abs(x), hn::Set(d, 87.0f));
  return HWY_LIKELY(hn::AllTrue(d, near)) ? y : hn::IfThenElse(near, y, everywhere());
}

template <class D, class V>
HWY_INLINE V exp(D d, V x) {
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    return unless_far(d, x, exp_in_range(d, x), [&]() HWY_ATTR {
      const V limited = clamp_keeping_nan(d, x, -104.5f, 89.0f);
      const Exponential<V> e = exponential(d, limited);
      return scale(d, hn::Add(e.fraction, hn::Set(d, 1.0f)), hn::Sub(e.shifted, hn::Set(d, 0x1.8p23f)));
    });
  } else {
    x = clamp_keeping_nan(d, x, -746.0, 710.0);
    const V n = hn::Round(hn::Mul(x, hn::Set(d, 1.44269504088896338700)));
    V r = hn::NegMulAdd(n, hn::Set(d, 6.93147180369123816490e-01), x);
    r = hn::NegMulAdd(n, hn::Set(d, 1.90821492927058770002e-10), r);
    return scale(d, exp_reduced(d, r), n);
  }
}

// e^x for x <= 0, for softmax and attention. A result below 2^-126 may become zero: at -88, 2^n is zero.
template <class D, class V>
HWY_INLINE V exp_of_nonpositive(D d, V x) {
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    const Exponential<V> e = exponential<1, 127>(d, at_least(d, -88.0f, x));
    const V power = e.power();
    return hn::MulAdd(power, e.fraction, power);
  } else {
    return exp(d, x);
  }
}

template <class D, class V>
HWY_INLINE V log(D d, V x) {
  using T = hn::TFromD<D>;
  const hn::RebindToSigned<D> di;
  using I = hn::TFromD<decltype(di)>;
  constexpr bool single = sizeof(T) == 4;
  constexpr int mantissa = single ? 23 : 52;
  const V smallest = hn::Set(d, single ? T(0x1p-126f) : T(0x1p-1022));
  const auto denormal = hn::Lt(x, smallest);
  const V normal = hn::IfThenElse(denormal, hn::Mul(x, hn::Set(d, single ? T(0x1p25f) : T(0x1p54))), x);
  const auto bits = hn::BitCast(di, normal);
  const auto above = hn::Sub(bits, hn::Set(di, single ? I(0x3f3504f3) : I(0x3fe6a09e667f3bcd)));  // minus sqrt(1/2)
  const auto exponent = hn::ShiftRight<mantissa>(above);
  V e = hn::ConvertTo(d, exponent);
  e = hn::Sub(e, hn::IfThenElseZero(denormal, hn::Set(d, single ? T(25) : T(54))));
  const V f = hn::Sub(hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<mantissa>(exponent))), hn::Set(d, T(1)));
  V y;
  if constexpr (single) {
    const V z = hn::Mul(f, f);
    y = polynomial(d, f, hn::Set(d, 7.0376836292e-2f), -1.1514610310e-1f, 1.1676998740e-1f, -1.2420140846e-1f,
                   1.4249322787e-1f, -1.6668057665e-1f, 2.0000714765e-1f, -2.4999993993e-1f, 3.3333331174e-1f);
    y = hn::Mul(y, hn::Mul(f, z));
    y = hn::MulAdd(e, hn::Set(d, -2.12194440e-4f), y);
    y = hn::NegMulAdd(hn::Set(d, 0.5f), z, y);
    y = hn::MulAdd(e, hn::Set(d, 0.693359375f), hn::Add(f, y));
  } else {
    const V s = hn::Div(f, hn::Add(hn::Set(d, 2.0), f));
    const V z = hn::Mul(s, s);
    const V r = hn::Mul(z, polynomial(d, z, hn::Set(d, 1.479819860511658591e-01), 1.531383769920937332e-01,
                                      1.818357216161805012e-01, 2.222219843214978396e-01, 2.857142874366239149e-01,
                                      3.999999999940941908e-01, 6.666666666666735130e-01));
    const V half = hn::Mul(hn::Mul(hn::Set(d, 0.5), f), f);
    const V low = hn::MulAdd(s, hn::Add(half, r), hn::Mul(e, hn::Set(d, 1.90821492927058770002e-10)));
    y = hn::Sub(hn::Mul(e, hn::Set(d, 6.93147180369123816490e-01)), hn::Sub(hn::Sub(half, low), f));
  }
  const V infinity = hn::Set(d, T(HUGE_VAL));
  const V zero = hn::Zero(d);
  y = hn::IfThenElse(hn::Eq(x, infinity), infinity, y);
  y = hn::IfThenElse(hn::Eq(x, zero), hn::Neg(infinity), y);
  return hn::IfThenElse(hn::Ge(x, zero), y, hn::IfThenElse(hn::Lt(x, zero), hn::Set(d, T(NAN)), x));
}

// Computes a float32 function in float64 lanes.
template <class F, class V>
HWY_INLINE V wide(Full<float> d, V x, F f) {
  const Full<double> dd;
  const hn::Rebind<float, Full<double>> half;
  const auto low = hn::DemoteTo(half, f(dd, hn::PromoteTo(dd, hn::LowerHalf(half, x))));
  const auto high = hn::DemoteTo(half, f(dd, hn::PromoteTo(dd, hn::UpperHalf(half, x))));
  return hn::Combine(d, high, low);
}
template <class F, class V>
HWY_INLINE V wide(Full<float> d, V x, V y, F f) {
  const Full<double> dd;
  const hn::Rebind<float, Full<double>> half;
  const auto low =
      hn::DemoteTo(half, f(dd, hn::PromoteTo(dd, hn::LowerHalf(half, x)), hn::PromoteTo(dd, hn::LowerHalf(half, y))));
  const auto high =
      hn::DemoteTo(half, f(dd, hn::PromoteTo(dd, hn::UpperHalf(half, x)), hn::PromoteTo(dd, hn::UpperHalf(half, y))));
  return hn::Combine(d, high, low);
}

// e^x in float64 lanes to about 40 bits, for results that will be rounded to float32.
template <class D, class V>
HWY_INLINE V exp_wide(D d, V x) {
  x = clamp_keeping_nan(d, x, -700.0, 700.0);
  const V n = hn::Round(hn::Mul(x, hn::Set(d, 1.44269504088896338700)));
  const V r = hn::NegMulAdd(n, hn::Set(d, 6.93147180559945286227e-01), x);
  const V p = polynomial(d, r, hn::Set(d, 1.0 / 3628800.0), 1.0 / 362880.0, 1.0 / 40320.0, 1.0 / 5040.0, 1.0 / 720.0,
                         1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0);
  return hn::Mul(p, power_of_two(d, n));
}

// log(x) in float64 lanes to about 45 bits, for positive normal numbers; any result for others.
template <class D, class V>
HWY_INLINE V log_wide(D d, V x) {
  const hn::RebindToUnsigned<D> du;
  const auto bits = hn::BitCast(du, x);
  const auto one = hn::Set(du, uint64_t{0x3ff0000000000000});
  const auto above = hn::Add(bits, hn::Set(du, uint64_t{0x3ff0000000000000 - 0x3fe6a09e667f3bcd}));  // minus sqrt(1/2)
  const auto exponent = hn::ShiftRight<52>(above);                                                   // plus 1023
  const V e =
      hn::Sub(hn::BitCast(d, hn::Or(exponent, hn::Set(du, uint64_t{0x4330000000000000}))), hn::Set(d, 0x1p52 + 1023.0));
  const V f = hn::Sub(hn::BitCast(d, hn::Add(hn::Sub(bits, hn::ShiftLeft<52>(exponent)), one)), hn::Set(d, 1.0));
  const V s = hn::Div(f, hn::Add(hn::Set(d, 2.0), f));
  const V z = hn::Mul(s, s);
  const V r = polynomial(d, z, hn::Set(d, 1.479819860511658591e-01), 1.531383769920937332e-01, 1.818357216161805012e-01,
                         2.222219843214978396e-01, 2.857142874366239149e-01, 3.999999999940941908e-01,
                         6.666666666666735130e-01, 2.0);
  return hn::MulAdd(e, hn::Set(d, 6.93147180559945286227e-01), hn::Mul(s, r));
}
// A logarithm of x, which is y where x is positive and finite.
template <class D, class V>
HWY_INLINE V logarithm(D d, V x, V y) {
  const V infinity = hn::Inf(d), zero = hn::Zero(d);
  y = hn::IfThenElse(hn::Eq(x, infinity), infinity, y);
  y = hn::IfThenElse(hn::Eq(x, zero), hn::Neg(infinity), y);
  return hn::IfThenElse(hn::Ge(x, zero), y, hn::NaN(d));
}

// Replaces the lanes where `lanes` is set by f(x) of the C library. For cases that are too rare for vector code.
template <class D, class V, class M, class F>
HWY_INLINE V repair(D d, M lanes, V y, V x, F f) {
  using T = hn::TFromD<D>;
  if (HWY_LIKELY(hn::AllFalse(d, lanes))) return y;
  alignas(64) T in[lanes_of<T>], out[lanes_of<T>], chosen[lanes_of<T>];
  hn::Store(x, d, in);
  hn::Store(y, d, out);
  hn::Store(hn::IfThenElseZero(lanes, hn::Set(d, T(1))), d, chosen);
  for (size_t i = 0; i < lanes_of<T>; ++i)
    if (chosen[i] != T(0)) out[i] = f(in[i]);
  return hn::Load(d, out);
}

// Functions in float64 lanes whose results will be rounded to float32: about 40 bits.
template <class D, class V>
HWY_INLINE V expm1_wide(D d, V x) {
  const V series = hn::MulAdd(hn::Mul(x, x), polynomial(d, x, hn::Set(d, 1.0 / 120.0), 1.0 / 24.0, 1.0 / 6.0, 0.5), x);
  return hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(d, 0x1p-7)), series, hn::Sub(exp_wide(d, x), hn::Set(d, 1.0)));
}
// For finite x above -1.
template <class D, class V>
HWY_INLINE V log1p_wide(D d, V x) {
  const V series = hn::MulAdd(hn::Mul(x, x), polynomial(d, x, hn::Set(d, -0.25), 1.0 / 3.0, -0.5), x);
  return hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(d, 0x1p-10)), series, log_wide(d, hn::Add(x, hn::Set(d, 1.0))));
}

// Sine and cosine of |x| < 2^20 at once, after reduction by multiples of pi/2 in three parts of 33 bits.
template <bool cosine, class D, class V>
HWY_INLINE V sine_wide(D d, V x) {
  const hn::RebindToUnsigned<D> du;
  const V n = hn::Round(hn::Mul(x, hn::Set(d, 6.36619772367581382433e-01)));
  V r = hn::NegMulAdd(n, hn::Set(d, 1.57079632673412561417e+00), x);
  r = hn::NegMulAdd(n, hn::Set(d, 6.07710050630396597660e-11), r);
  r = hn::NegMulAdd(n, hn::Set(d, 2.02226624879595063154e-21), r);
  const V z = hn::Mul(r, r);
  const V s = hn::MulAdd(
      hn::Mul(r, z),
      polynomial(d, z, hn::Set(d, 1.58969099521155010221e-10), -2.50507602534068634195e-08, 2.75573137070700676789e-06,
                 -1.98412698298579493134e-04, 8.33333333332248946124e-03, -1.66666666666666324348e-01),
      r);
  const V c = hn::Add(hn::MulAdd(hn::Mul(z, z),
                                 polynomial(d, z, hn::Set(d, -1.13596475577881948265e-11), 2.08757232129817482790e-09,
                                            -2.75573143513906633035e-07, 2.48015872894767294178e-05,
                                            -1.38888888888741095749e-03, 4.16666666666666019037e-02),
                                 hn::Mul(hn::Set(d, -0.5), z)),
                      hn::Set(d, 1.0));
  // The low bits of n + 2^52 + 2^51 are the quadrant's number.
  auto q = hn::BitCast(du, hn::Add(n, hn::Set(d, 0x1.8p52)));
  if constexpr (cosine) q = hn::Add(q, hn::Set(du, uint64_t{1}));
  const auto swap = hn::MaskFromVec(hn::BitCast(d, hn::Sub(hn::Zero(du), hn::And(q, hn::Set(du, uint64_t{1})))));
  const auto sign = hn::BitCast(d, hn::ShiftLeft<63>(hn::ShiftRight<1>(q)));
  return hn::Xor(hn::IfThenElse(swap, c, s), sign);
}

template <class V>
HWY_INLINE V sin(Full<float> d, V x) {
  const V y = wide(d, x, [](auto dd, auto v) { return sine_wide<false>(dd, v); });
  const V signed_zero = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), x, y);
  return repair(d, hn::Not(hn::Lt(hn::Abs(x), hn::Set(d, 0x1p20f))), signed_zero, x,
                [](float v) { return static_cast<float>(::sin(static_cast<double>(v))); });
}
template <class V>
HWY_INLINE V cos(Full<float> d, V x) {
  const V y = wide(d, x, [](auto dd, auto v) { return sine_wide<true>(dd, v); });
  return repair(d, hn::Not(hn::Lt(hn::Abs(x), hn::Set(d, 0x1p20f))), y, x,
                [](float v) { return static_cast<float>(::cos(static_cast<double>(v))); });
}

// (e^2a - 1) / (e^2a + 1) for a = |x|, as c plus a quotient, where c = min(a, 1/2) is subtracted first. The rounding
// error of the denominator then has little weight. At most 1.74 ULP.
template <class V>
HWY_INLINE V tanh(Full<float> d, V x) {
  const V a = at_most(d, 9.2f, hn::Abs(x));
  const Exponential<V> e = exponential<1, 127>(d, hn::Add(a, a));
  const V power = e.power();
  const V numerator = hn::MulAdd(power, e.fraction, hn::Sub(power, hn::Set(d, 1.0f)));
  const V c = hn::Min(a, hn::Set(d, 0.5f));
  const V rest = hn::NegMulAdd(c, numerator, hn::NegMulAdd(c, hn::Set(d, 2.0f), numerator));
  return hn::CopySign(hn::Add(c, hn::Div(rest, hn::Add(numerator, hn::Set(d, 2.0f)))), x);
}

template <class V>
HWY_INLINE V erf(Full<float> d, V x) {
  const V t = at_most(d, 4.0f, hn::Abs(x));
  const V s = hn::Mul(x, x);
  const V tt = hn::Mul(t, t);
  V r = hn::MulAdd(hn::Set(d, -1.72853470e-5f), t, hn::Set(d, 3.83197126e-4f));
  const V u = hn::MulAdd(hn::Set(d, -3.88396438e-3f), t, hn::Set(d, 2.42546219e-2f));
  r = hn::MulAdd(r, tt, u);
  r = polynomial(d, t, r, -1.06777877e-1f, -6.34846687e-1f, -1.28717512e-1f);
  r = hn::MulAdd(r, t, hn::Neg(t));
  const V large = hn::CopySign(hn::Sub(hn::Set(d, 1.0f), exp_in_range(d, r)), x);
  V p = polynomial(d, s, hn::Set(d, -5.96761703e-4f), 4.99119423e-3f, -2.67681349e-2f, 1.12819925e-1f, -3.76125336e-1f,
                   1.28379166e-1f);
  p = hn::MulAdd(p, x, x);
  return hn::IfThenElse(hn::Gt(hn::Abs(x), hn::Set(d, 0.927734375f)), large, p);
}

// 1 + e^-x for |x| <= 87, in an order that rounds 2^n only once.
template <class V>
HWY_INLINE V one_plus_exp_of_negative(Full<float> d, V x) {
  const Exponential<V> e = exponential<-1, 127>(d, x);
  const V power = e.power();
  return hn::Add(hn::MulAdd(power, e.fraction, hn::Set(d, 1.0f)), power);
}

// Both branches of 1 / (1 + e^-x) from e = e^-|x|, so that small results keep their digits. The rounding error of 1 + e
// is corrected after the division, by the derivative.
template <class D, class V>
HWY_INLINE V sigmoid_everywhere(D d, V x) {
  const V one = hn::Set(d, hn::TFromD<D>(1));
  const V e = exp(d, hn::Neg(hn::Abs(x)));
  const V sum = hn::Add(one, e);
  const V lost = hn::Sub(e, hn::Sub(sum, one));
  const V y = hn::Div(hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one), sum);
  return hn::NegMulAdd(hn::Mul(y, lost), hn::Max(y, hn::Sub(one, y)), y);
}
template <class V>
HWY_INLINE V sigmoid(Full<float> d, V x) {
  const V y = hn::Div(hn::Set(d, 1.0f), one_plus_exp_of_negative(d, x));
  return unless_far(d, x, y, [&]() HWY_ATTR { return sigmoid_everywhere(d, x); });
}
template <class V>
HWY_INLINE V sigmoid(Full<double> d, V x) {
  return sigmoid_everywhere(d, x);
}

// x * sigmoid(x) = x / (1 + e^-x)
template <class V>
HWY_INLINE V silu(Full<float> d, V x) {
  return unless_far(d, x, hn::Div(x, one_plus_exp_of_negative(d, x)), [&]() HWY_ATTR {
    return wide(d, at_least_lowest(d, x),
                [](auto dd, auto v) { return hn::Div(v, hn::Add(hn::Set(dd, 1.0), exp_wide(dd, hn::Neg(v)))); });
  });
}
template <class V>
HWY_INLINE V silu(Full<double> d, V x) {
  const V y = hn::Mul(x, sigmoid(d, x));
  const auto near = hn::Ge(x, hn::Set(d, -600.0));
  if (HWY_LIKELY(hn::AllTrue(d, near))) return y;
  // In this range sigmoid(x) is e^x, which becomes subnormal before x e^x does: e^64 is applied after the product.
  const V limited = at_least(d, -2000.0, x);  // -inf * 0 is NaN
  const V scaled = hn::Mul(limited, exp(d, hn::Add(limited, hn::Set(d, 64.0))));
  return hn::IfThenElse(near, y, hn::Mul(scaled, hn::Set(d, 1.603810890548637852976e-28)));
}

template <class D, class V>
HWY_INLINE V root_by_power(D d, V x) {  // +0 for -0, and infinity for -infinity, unlike sqrt
  const V infinity = hn::Inf(d);
  return hn::IfThenElse(hn::Eq(x, hn::Neg(infinity)), infinity, hn::Sqrt(hn::Add(x, hn::Zero(d))));
}
template <class V>
HWY_INLINE V cube(Full<float> d, V x) {
  return wide(d, x, [](auto, auto v) { return hn::Mul(hn::Mul(v, v), v); });
}
// x^y for the exponents that programs write most: squares, reciprocals, square roots, and cubes of float32. Each lane
// is computed as if it were alone: a square is a product wherever it stands. `general` computes all lanes for any
// exponents; it is called if there are others.
template <class D, class V, class F>
HWY_INLINE V with_common_powers(D d, V x, V y, F general) {
  constexpr bool has_cubes = sizeof(hn::TFromD<D>) == sizeof(float);
  const auto is_square = hn::Eq(y, hn::Set(d, 2)), is_reciprocal = hn::Eq(y, hn::Set(d, -1));
  const auto is_root = hn::Eq(y, hn::Set(d, 0.5f)), is_cube = hn::Eq(y, hn::Set(d, has_cubes ? 3 : 2));
  const auto is_common = hn::Or(hn::Or(is_square, is_cube), hn::Or(is_reciprocal, is_root));
  if (hn::AllFalse(d, is_common)) return general();
  V r = x;
  if (!hn::AllTrue(d, is_common)) r = general();
  if constexpr (has_cubes)
    if (!hn::AllFalse(d, is_cube)) r = hn::IfThenElse(is_cube, cube(d, x), r);
  if (!hn::AllFalse(d, is_root)) r = hn::IfThenElse(is_root, root_by_power(d, x), r);
  if (!hn::AllFalse(d, is_reciprocal)) r = hn::IfThenElse(is_reciprocal, hn::Div(hn::Set(d, 1), x), r);
  return hn::IfThenElse(is_square, hn::Mul(x, x), r);
}

// |x|^y, with the sign of x for odd y. Zeros, infinities and NaN are left to the C library.
template <class V>
HWY_INLINE V general_power(Full<float> d, V x, V y) {
  const V zero = hn::Zero(d), largest = hn::Set(d, 3.402823466e38f), size = hn::Abs(x);
  V r = wide(d, size, y, [](auto dd, auto a, auto b) { return exp_wide(dd, hn::Mul(b, log_wide(dd, a))); });
  const auto is_negative = hn::Lt(x, zero);
  if (!hn::AllFalse(d, is_negative)) {
    const V half = hn::Mul(y, hn::Set(d, 0.5f));  // all floats from 2^24 on are even
    const auto is_whole = hn::Eq(hn::Floor(y), y);
    const auto is_odd = hn::And(is_whole, hn::Ne(hn::Floor(half), half));
    const V of_negative = hn::IfThenElse(is_whole, hn::IfThenElse(is_odd, hn::Neg(r), r), hn::NaN(d));
    r = hn::IfThenElse(is_negative, of_negative, r);
  }
  const auto plain = hn::And(hn::And(hn::Gt(size, zero), hn::Le(size, largest)), hn::Le(hn::Abs(y), largest));
  if (HWY_LIKELY(hn::AllTrue(d, plain))) return r;
  alignas(64) float a[lanes_of<float>], b[lanes_of<float>], out[lanes_of<float>], chosen[lanes_of<float>];
  hn::Store(x, d, a);
  hn::Store(y, d, b);
  hn::Store(r, d, out);
  hn::Store(hn::IfThenElseZero(plain, hn::Set(d, 1.0f)), d, chosen);
  for (size_t i = 0; i < lanes_of<float>; ++i)
    if (chosen[i] == 0.0f) out[i] = static_cast<float>(::pow(static_cast<double>(a[i]), static_cast<double>(b[i])));
  return hn::Load(d, out);
}
template <class V>
HWY_INLINE V general_power(Full<double> d, V x, V y) {
  alignas(64) double a[lanes_of<double>], b[lanes_of<double>];
  hn::Store(x, d, a);
  hn::Store(y, d, b);
  for (size_t i = 0; i < lanes_of<double>; ++i) a[i] = ::pow(a[i], b[i]);
  return hn::Load(d, a);
}

template <class D, class V>
HWY_INLINE V pow(D d, V x, V y) {
  return with_common_powers(d, x, y, [&]() HWY_ATTR { return general_power(d, x, y); });
}

}  // namespace math
}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
