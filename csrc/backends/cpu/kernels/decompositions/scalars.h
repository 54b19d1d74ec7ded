// The numbers of matrices that are decomposed, float, double and complex ones, and the vector operations on them. The
// order of every sum depends on the length alone.
#pragma once

#include "../simd.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {

// A complex number as it is stored: the real part, then the imaginary part.
template <class R>
struct Cx {
  R re, im;
};

namespace {

template <class T>
struct NumberTraits {
  using Real = T;
  static constexpr bool is_complex = false;
};
template <class R>
struct NumberTraits<Cx<R>> {
  using Real = R;
  static constexpr bool is_complex = true;
};
template <class T>
using RealOf = typename NumberTraits<T>::Real;
template <class T>
constexpr bool is_complex_number = NumberTraits<T>::is_complex;

template <class R>
constexpr R epsilon_of = sizeof(R) == 4 ? R(1.1920928955078125e-7) : R(2.220446049250313e-16);
template <class R>
constexpr R least_normal_of = sizeof(R) == 4 ? R(1.17549435e-38) : R(2.2250738585072014e-308);

template <class R>
HWY_INLINE Cx<R> operator+(Cx<R> a, Cx<R> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class R>
HWY_INLINE Cx<R> operator-(Cx<R> a, Cx<R> b) {
  return {a.re - b.re, a.im - b.im};
}
template <class R>
HWY_INLINE Cx<R> operator-(Cx<R> a) {
  return {-a.re, -a.im};
}
template <class R>
HWY_INLINE Cx<R> operator*(Cx<R> a, Cx<R> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class R>
HWY_INLINE Cx<R> operator*(R a, Cx<R> b) {
  return {a * b.re, a * b.im};
}

template <class T>
HWY_INLINE T number(RealOf<T> x) {
  if constexpr (is_complex_number<T>)
    return {x, RealOf<T>(0)};
  else
    return x;
}
template <class T>
HWY_INLINE T conj(T x) {
  if constexpr (is_complex_number<T>)
    return {x.re, -x.im};
  else
    return x;
}
template <class T>
HWY_INLINE RealOf<T> real(T x) {
  if constexpr (is_complex_number<T>)
    return x.re;
  else
    return x;
}
template <class T>
HWY_INLINE RealOf<T> imaginary(T x) {
  if constexpr (is_complex_number<T>)
    return x.im;
  else
    return RealOf<T>(0);
}
HWY_INLINE float absolute(float x) { return __builtin_fabsf(x); }
HWY_INLINE double absolute(double x) { return __builtin_fabs(x); }
HWY_INLINE float root(float x) { return __builtin_sqrtf(x); }
HWY_INLINE double root(double x) { return __builtin_sqrt(x); }
HWY_INLINE float hypotenuse(float a, float b) { return hypotf(a, b); }
HWY_INLINE double hypotenuse(double a, double b) { return hypot(a, b); }
template <class R>
HWY_INLINE R absolute(Cx<R> x) {
  return hypotenuse(x.re, x.im);
}
template <class R>
HWY_INLINE R with_sign(R magnitude, R sign) {
  return __builtin_signbit(sign) ? -absolute(magnitude) : absolute(magnitude);
}
// The root of |a b|, for a and b up to about 1. It is exact for a = b, and does not underflow.
template <class R>
HWY_INLINE R geometric_mean(R a, R b) {
  const R product = absolute(a * b);
  return product >= least_normal_of<R> / epsilon_of<R> ? root(product) : root(absolute(a)) * root(absolute(b));
}
template <class T>
HWY_INLINE bool is_zero(T x) {
  return real(x) == 0 && imaginary(x) == 0;
}
// |re| + |im|: what pivots are compared by, as in LAPACK.
template <class T>
HWY_INLINE RealOf<T> size_of_number(T x) {
  return absolute(real(x)) + absolute(imaginary(x));
}

// 1 / x without overflow in between (Smith 1962).
template <class T>
HWY_INLINE T inverse(T x) {
  if constexpr (is_complex_number<T>) {
    using R = RealOf<T>;
    if (absolute(x.re) >= absolute(x.im)) {
      const R ratio = x.im / x.re, below = x.re + x.im * ratio;
      return {R(1) / below, -ratio / below};
    }
    const R ratio = x.re / x.im, below = x.re * ratio + x.im;
    return {ratio / below, R(-1) / below};
  } else {
    return T(1) / x;
  }
}

// Re and im exchanged in each pair of lanes.
template <class V>
HWY_INLINE V swapped_pairs(Full<float>, V v) {
  return hn::Shuffle2301(v);
}
template <class V>
HWY_INLINE V swapped_pairs(Full<double>, V v) {
  return hn::Shuffle01(v);
}

// y += a x
template <class R>
void add_scaled(int64_t n, R a, const R* HWY_RESTRICT x, R* HWY_RESTRICT y) {
  const Full<R> d;
  constexpr int64_t lanes = lanes_of<R>;
  const auto factor = hn::Set(d, a);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(hn::MulAdd(factor, hn::LoadU(d, x + i), hn::LoadU(d, y + i)), d, y + i);
  if (i < n) {  // by the same arithmetic, so that a result does not depend on where a range of elements ends
    const auto count = static_cast<size_t>(n - i);
    store_first(d, hn::MulAdd(factor, load_first(d, x + i, count), load_first(d, y + i, count)), y + i, count);
  }
}
template <class R>
void add_scaled(int64_t n, Cx<R> a, const Cx<R>* HWY_RESTRICT x, Cx<R>* HWY_RESTRICT y) {
  const Full<R> d;
  constexpr int64_t lanes = lanes_of<R>;
  const auto re = hn::Set(d, a.re);
  const auto im = hn::OddEven(hn::Set(d, a.im), hn::Set(d, -a.im));
  const R* from = &x->re;
  R* to = &y->re;
  int64_t i = 0;
  for (; i + lanes <= 2 * n; i += lanes) {
    const auto v = hn::LoadU(d, from + i);
    hn::StoreU(hn::MulAdd(im, swapped_pairs(d, v), hn::MulAdd(re, v, hn::LoadU(d, to + i))), d, to + i);
  }
  if (i < 2 * n) {
    const auto count = static_cast<size_t>(2 * n - i);
    const auto v = load_first(d, from + i, count);
    const auto sum = hn::MulAdd(im, swapped_pairs(d, v), hn::MulAdd(re, v, load_first(d, to + i, count)));
    store_first(d, sum, to + i, count);
  }
}

template <class R, class V>
HWY_INLINE R sum_of_lanes(V v) {
  const Full<R> d;
  alignas(64) R lanes[lanes_of<R>];
  hn::Store(v, d, lanes);
  R sum = 0;
  for (size_t i = 0; i < lanes_of<R>; ++i) sum += lanes[i];
  return sum;
}

// The sum of conj(x) y if `conjugated`, else of x y.
template <bool conjugated, class R>
R dot_of(int64_t n, const R* HWY_RESTRICT x, const R* HWY_RESTRICT y) {
  const Full<R> d;
  constexpr int64_t lanes = lanes_of<R>;
  auto sum0 = hn::Zero(d), sum1 = sum0, sum2 = sum0, sum3 = sum0;
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    sum0 = hn::MulAdd(hn::LoadU(d, x + i), hn::LoadU(d, y + i), sum0);
    sum1 = hn::MulAdd(hn::LoadU(d, x + i + lanes), hn::LoadU(d, y + i + lanes), sum1);
    sum2 = hn::MulAdd(hn::LoadU(d, x + i + 2 * lanes), hn::LoadU(d, y + i + 2 * lanes), sum2);
    sum3 = hn::MulAdd(hn::LoadU(d, x + i + 3 * lanes), hn::LoadU(d, y + i + 3 * lanes), sum3);
  }
  for (; i + lanes <= n; i += lanes) sum0 = hn::MulAdd(hn::LoadU(d, x + i), hn::LoadU(d, y + i), sum0);
  R sum = sum_of_lanes<R>(hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3)));
  for (; i < n; ++i) sum += x[i] * y[i];
  return sum;
}
template <bool conjugated, class R>
Cx<R> dot_of(int64_t n, const Cx<R>* HWY_RESTRICT x, const Cx<R>* HWY_RESTRICT y) {
  const Full<R> d;
  constexpr int64_t lanes = lanes_of<R>;
  const R* a = &x->re;
  const R* b = &y->re;
  auto same0 = hn::Zero(d), same1 = same0, cross0 = same0, cross1 = same0;
  int64_t i = 0;
  for (; i + 2 * lanes <= 2 * n; i += 2 * lanes) {
    const auto a0 = hn::LoadU(d, a + i), b0 = hn::LoadU(d, b + i);
    const auto a1 = hn::LoadU(d, a + i + lanes), b1 = hn::LoadU(d, b + i + lanes);
    same0 = hn::MulAdd(a0, b0, same0);
    cross0 = hn::MulAdd(a0, swapped_pairs(d, b0), cross0);
    same1 = hn::MulAdd(a1, b1, same1);
    cross1 = hn::MulAdd(a1, swapped_pairs(d, b1), cross1);
  }
  const auto odd_negative = hn::OddEven(hn::Set(d, R(-1)), hn::Set(d, R(1)));
  auto same = hn::Add(same0, same1), cross = hn::Add(cross0, cross1);
  if constexpr (conjugated)
    cross = hn::Mul(cross, odd_negative);
  else
    same = hn::Mul(same, odd_negative);
  Cx<R> sum{sum_of_lanes<R>(same), sum_of_lanes<R>(cross)};
  for (i /= 2; i < n; ++i) sum = sum + (conjugated ? conj(x[i]) : x[i]) * y[i];
  return sum;
}
template <class T>
T dot(int64_t n, const T* x, const T* y) {
  return dot_of<false>(n, x, y);
}
template <class T>
T dot_with_conj(int64_t n, const T* x, const T* y) {
  return dot_of<true>(n, x, y);
}

// (x, y) = (c x + s y, c y - s x)
template <class R>
void rotate(int64_t n, R* HWY_RESTRICT x, R* HWY_RESTRICT y, R c, R s) {
  const Full<R> d;
  constexpr int64_t lanes = lanes_of<R>;
  const auto cosine = hn::Set(d, c), sine = hn::Set(d, s);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto a = hn::LoadU(d, x + i), b = hn::LoadU(d, y + i);
    hn::StoreU(hn::MulAdd(cosine, a, hn::Mul(sine, b)), d, x + i);
    hn::StoreU(hn::NegMulAdd(sine, a, hn::Mul(cosine, b)), d, y + i);
  }
  for (; i < n; ++i) {
    const R a = x[i], b = y[i];
    x[i] = c * a + s * b;
    y[i] = c * b - s * a;
  }
}

template <class T>
void scale(int64_t n, T a, T* x) {
  for (int64_t i = 0; i < n; ++i) x[i] = a * x[i];
}

// The Euclidean norm without overflow or underflow in between.
template <class T>
RealOf<T> norm(int64_t n, const T* x) {
  using R = RealOf<T>;
  const R* parts = reinterpret_cast<const R*>(x);
  const int64_t count = is_complex_number<T> ? 2 * n : n;
  const R squares = dot_of<false>(count, parts, parts);
  constexpr R low = least_normal_of<R> / epsilon_of<R>, high = R(1) / low;
  if (squares > low && squares < high) return root(squares);
  R most = 0;
  for (int64_t i = 0; i < count; ++i) {
    const R size = absolute(parts[i]);
    if (!(size <= most)) most = size;
  }
  if (most == 0 || !(most - most == 0)) return most;
  R sum = 0;
  for (int64_t i = 0; i < count; ++i) {
    const R ratio = parts[i] / most;
    sum += ratio * ratio;
  }
  return most * root(sum);
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
