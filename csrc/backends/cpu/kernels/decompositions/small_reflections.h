// Reflections of two or three rows or columns, and rotations of two: the steps of the QR algorithm.
#pragma once

#include "matrices.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// I - t v v^H with v = (1, v1, v2); v2 is 0 and not used for complex numbers.
template <class T>
struct SmallReflection {
  T t, v1, v2;
};

// Makes the reflection H with H^T x = (beta, 0, 0).
template <class R>
SmallReflection<R> small_reflection(R x0, R x1, R x2, R& beta) {
  const R size = absolute(x0) + absolute(x1) + absolute(x2);
  if (x1 == 0 && x2 == 0) {
    beta = x0;
    return {R(0), R(0), R(0)};
  }
  const R p = x0 / size, q = x1 / size, r = x2 / size;
  const R length = with_sign(root(p * p + q * q + r * r), p), first = p + length;
  beta = -length * size;
  return {first / length, q / first, r / first};
}
// Makes the reflection H with H^H x = (beta, 0), beta real.
template <class R>
SmallReflection<Cx<R>> small_reflection(Cx<R> x0, Cx<R> x1, R& beta) {
  const R size = size_of_number(x0) + size_of_number(x1);
  if (is_zero(x1) && x0.im == 0) {
    beta = x0.re;
    return {};
  }
  const Cx<R> p{x0.re / size, x0.im / size}, q{x1.re / size, x1.im / size};
  const R length = -with_sign(root(p.re * p.re + p.im * p.im + q.re * q.re + q.im * q.im), p.re);
  beta = length * size;
  return {{(length - p.re) / length, -p.im / length}, q * inverse(p - Cx<R>{length, R(0)}), {}};
}

// H^T of rows, or the transpose of H of columns, as rows of `n` numbers.
template <class R>
void reflect_rows(int64_t n, const SmallReflection<R>& h, R* HWY_RESTRICT x, R* HWY_RESTRICT y, R* HWY_RESTRICT z) {
  const Full<R> d;
  constexpr int64_t lanes = lanes_of<R>;
  const auto v1 = hn::Set(d, h.v1), v2 = hn::Set(d, h.v2);
  const auto t0 = hn::Set(d, h.t), t1 = hn::Set(d, h.t * h.v1), t2 = hn::Set(d, h.t * h.v2);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto a = hn::LoadU(d, x + i), b = hn::LoadU(d, y + i), c = hn::LoadU(d, z + i);
    const auto sum = hn::MulAdd(v2, c, hn::MulAdd(v1, b, a));
    hn::StoreU(hn::NegMulAdd(t0, sum, a), d, x + i);
    hn::StoreU(hn::NegMulAdd(t1, sum, b), d, y + i);
    hn::StoreU(hn::NegMulAdd(t2, sum, c), d, z + i);
  }
  if (i < n) {  // by the same arithmetic, so that a result does not depend on where a range of elements ends
    const auto count = static_cast<size_t>(n - i);
    const auto a = load_first(d, x + i, count), b = load_first(d, y + i, count), c = load_first(d, z + i, count);
    const auto sum = hn::MulAdd(v2, c, hn::MulAdd(v1, b, a));
    store_first(d, hn::NegMulAdd(t0, sum, a), x + i, count);
    store_first(d, hn::NegMulAdd(t1, sum, b), y + i, count);
    store_first(d, hn::NegMulAdd(t2, sum, c), z + i, count);
  }
}
template <class R>
void reflect_rows(int64_t n, const SmallReflection<R>& h, R* HWY_RESTRICT x, R* HWY_RESTRICT y) {
  const Full<R> d;
  constexpr int64_t lanes = lanes_of<R>;
  const auto v1 = hn::Set(d, h.v1), t0 = hn::Set(d, h.t), t1 = hn::Set(d, h.t * h.v1);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto a = hn::LoadU(d, x + i), b = hn::LoadU(d, y + i);
    const auto sum = hn::MulAdd(v1, b, a);
    hn::StoreU(hn::NegMulAdd(t0, sum, a), d, x + i);
    hn::StoreU(hn::NegMulAdd(t1, sum, b), d, y + i);
  }
  if (i < n) {
    const auto count = static_cast<size_t>(n - i);
    const auto a = load_first(d, x + i, count), b = load_first(d, y + i, count);
    const auto sum = hn::MulAdd(v1, b, a);
    store_first(d, hn::NegMulAdd(t0, sum, a), x + i, count);
    store_first(d, hn::NegMulAdd(t1, sum, b), y + i, count);
  }
}
// (x, y) -= t (1, w) (x + v y): of rows, H^H is (conj(t), conj(v), v); the transpose of H is (t, v, conj(v)).
template <class R>
void reflect_pairs(int64_t n, Cx<R> t, Cx<R> v, Cx<R> w, Cx<R>* HWY_RESTRICT x, Cx<R>* HWY_RESTRICT y) {
  const Full<R> d;
  constexpr int64_t lanes = lanes_of<R>;
  const auto real_of = [&](Cx<R> c) { return hn::Set(d, c.re); };
  const auto imaginary_of = [&](Cx<R> c) { return hn::OddEven(hn::Set(d, c.im), hn::Set(d, -c.im)); };
  const Cx<R> t0 = -t, t1 = -(t * w);
  const auto v_re = real_of(v), v_im = imaginary_of(v), t0_re = real_of(t0), t0_im = imaginary_of(t0);
  const auto t1_re = real_of(t1), t1_im = imaginary_of(t1);
  const auto reflect = [&](auto& a, auto& b) {
    const auto sum = hn::MulAdd(v_im, swapped_pairs(d, b), hn::MulAdd(v_re, b, a));
    const auto turned = swapped_pairs(d, sum);
    a = hn::MulAdd(t0_im, turned, hn::MulAdd(t0_re, sum, a));
    b = hn::MulAdd(t1_im, turned, hn::MulAdd(t1_re, sum, b));
  };
  R *const to_x = &x->re, *const to_y = &y->re;
  int64_t i = 0;
  for (; i + lanes <= 2 * n; i += lanes) {
    auto a = hn::LoadU(d, to_x + i), b = hn::LoadU(d, to_y + i);
    reflect(a, b);
    hn::StoreU(a, d, to_x + i);
    hn::StoreU(b, d, to_y + i);
  }
  if (i < 2 * n) {
    const auto count = static_cast<size_t>(2 * n - i);
    auto a = load_first(d, to_x + i, count), b = load_first(d, to_y + i, count);
    reflect(a, b);
    store_first(d, a, to_x + i, count);
    store_first(d, b, to_y + i, count);
  }
}

// The columns of rows [begin, end), where `x` is in row 0 the first column: x H.
template <class R>
void reflect_columns(int64_t begin, int64_t end, int64_t pitch, const SmallReflection<R>& h, int width, R* x) {
  const R t0 = h.t, t1 = h.t * h.v1, t2 = h.t * h.v2, v1 = h.v1, v2 = h.v2;
  if (width == 3)
    for (int64_t i = begin; i < end; ++i) {
      R* const row = x + i * pitch;
      const R sum = row[0] + v1 * row[1] + v2 * row[2];
      row[0] -= t0 * sum;
      row[1] -= t1 * sum;
      row[2] -= t2 * sum;
    }
  else
    for (int64_t i = begin; i < end; ++i) {
      R* const row = x + i * pitch;
      const R sum = row[0] + v1 * row[1];
      row[0] -= t0 * sum;
      row[1] -= t1 * sum;
    }
}
template <class R>
void reflect_columns(int64_t begin, int64_t end, int64_t pitch, const SmallReflection<Cx<R>>& h, Cx<R>* x) {
  const Cx<R> t0 = h.t, t1 = h.t * conj(h.v1), v1 = h.v1;
  for (int64_t i = begin; i < end; ++i) {
    Cx<R>* const row = x + i * pitch;
    const Cx<R> sum = row[0] + v1 * row[1];
    row[0] = row[0] - t0 * sum;
    row[1] = row[1] - t1 * sum;
  }
}
// The columns of rows [begin, end): (x, y) = (c x + s y, c y - s x).
template <class R>
void rotate_columns(int64_t begin, int64_t end, int64_t pitch, R c, R s, R* x) {
  for (int64_t i = begin; i < end; ++i) {
    R* const row = x + i * pitch;
    const R a = row[0], b = row[1];
    row[0] = c * a + s * b;
    row[1] = c * b - s * a;
  }
}

// The first row of the block of the Hessenberg matrix h that ends with row `last`: the subdiagonal element above it is
// negligible. `size_of` is the absolute value of an element, or another norm of its two parts.
template <class R, class T, class Size>
int64_t start_of_undivided_block(const T* h, int64_t pitch, int64_t begin, int64_t last, int64_t end, Size size_of) {
  const auto at = [&](int64_t i, int64_t j) { return h[i * pitch + j]; };
  const auto size_at = [&](int64_t i, int64_t j) { return size_of(at(i, j)); };
  const R tiny = least_normal_of<R> * (static_cast<R>(end - begin) / epsilon_of<R>);
  int64_t k = last;
  for (; k > begin; --k) {
    const R below = size_at(k, k - 1);
    if (below <= tiny) break;
    R sum = size_at(k - 1, k - 1) + size_at(k, k);
    if (sum == 0) {
      if (k - 2 >= begin) sum += size_at(k - 1, k - 2);
      if (k + 1 < end) sum += size_at(k + 1, k);
    }
    if (below > epsilon_of<R> * sum) continue;
    const R above = size_at(k - 1, k), apart = size_of(at(k - 1, k - 1) - at(k, k)), here = size_at(k, k);
    const R most = below > above ? below : above, least = below > above ? above : below;
    const R far = here > apart ? here : apart, near = here > apart ? apart : here, size = far + most;
    const R bound = epsilon_of<R> * (near * (far / size));
    if (least * (most / size) <= (bound > tiny ? bound : tiny)) break;
  }
  return k;
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
