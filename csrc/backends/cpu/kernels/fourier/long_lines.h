// Transforms of one long line: as a matrix, whose columns, then rows are transformed, with a product in between
// (Gentleman & Sande 1966; Bailey 1990), or as a convolution of a smooth length (Bluestein 1970).
#pragma once

#include "../cancellation.h"
#include "plan.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// to[k * width + i] = from[i * width + k] for a square of lanes.
template <class R>
HWY_INLINE void transpose_lanes(const R* HWY_RESTRICT from, int64_t from_pitch, R* HWY_RESTRICT to, int64_t to_pitch) {
  constexpr int64_t width = width_of<R>;
  for (int64_t k = 0; k < width; ++k)
    for (int64_t i = 0; i < width; ++i) to[k * to_pitch + i] = from[i * from_pitch + k];
}

// The first half of a transform of `plan.length`: columns [block * width, + width) of the matrix. load(j, count, re,
// im) reads elements [j, j + count) of the line.
template <class R, class Load>
void transform_block_of_columns(const Plan<R>& plan, const Buffers<R>& buffers, Parts<R> matrix, int64_t block,
                                Load load) {
  constexpr int64_t width = width_of<R>;
  const Full<R> d;
  const int64_t n1 = plan.n1, n2 = plan.n2, first = block * width, count = smaller(width, n2 - first);
  for (int64_t j = 0; j < n1; ++j) {
    R *const re = buffers.a.re + j * width, *const im = buffers.a.im + j * width;
    load(j * n2 + first, count, re, im);
    for (int64_t i = count; i < width; ++i) re[i] = im[i] = 0;
  }
  const Parts<R> done = transform_columns<R>(n1, width, buffers.a, buffers.b, {plan.turns1.re, plan.turns1.im});
  R *const to_re = matrix.re + block * n1 * width, *const to_im = matrix.im + block * n1 * width;
  int64_t exponent = 0;  // first * k modulo the length
  for (int64_t k = 0; k < n1; ++k) {
    const Turn turn = plan.turns.turn(exponent);
    exponent += first;
    if (exponent >= plan.length) exponent -= plan.length;
    const auto re = hn::Load(d, done.re + k * width), im = hn::Load(d, done.im + k * width);
    const auto across_re = hn::Load(d, plan.across.re + k * width), across_im = hn::Load(d, plan.across.im + k * width);
    const auto cosine = hn::Set(d, static_cast<R>(turn.cosine)), sine = hn::Set(d, static_cast<R>(-turn.sine));
    const auto w_re = hn::NegMulAdd(sine, across_im, hn::Mul(cosine, across_re));
    const auto w_im = hn::MulAdd(sine, across_re, hn::Mul(cosine, across_im));
    hn::Store(hn::NegMulAdd(im, w_im, hn::Mul(re, w_re)), d, to_re + k * width);
    hn::Store(hn::MulAdd(im, w_re, hn::Mul(re, w_im)), d, to_im + k * width);
  }
}
// The second half: rows [block * width, + width). store(k, count, re, im) takes elements [k, k + count) of the result.
template <class R, class Store>
void transform_block_of_rows(const Plan<R>& plan, const Buffers<R>& buffers, Parts<R> matrix, int64_t block,
                             Store store) {
  constexpr int64_t width = width_of<R>;
  const int64_t n1 = plan.n1, n2 = plan.n2, first = block * width, count = smaller(width, n1 - first);
  for (int64_t j = 0; j < n2; j += width) {
    const int64_t from = (j * n1) + first * width;  // block j / width of the matrix, row `first`
    if (count == width && n2 - j >= width) {
      transpose_lanes(matrix.re + from, width, buffers.a.re + j * width, width);
      transpose_lanes(matrix.im + from, width, buffers.a.im + j * width, width);
    } else {
      for (int64_t i = 0; i < smaller(width, n2 - j); ++i)
        for (int64_t k = 0; k < width; ++k) {
          const bool is_given = k < count;
          buffers.a.re[(j + i) * width + k] = is_given ? matrix.re[from + k * width + i] : R(0);
          buffers.a.im[(j + i) * width + k] = is_given ? matrix.im[from + k * width + i] : R(0);
        }
    }
  }
  const Parts<R> done = transform_columns<R>(n2, width, buffers.a, buffers.b, {plan.turns2.re, plan.turns2.im});
  for (int64_t k = 0; k < n2; ++k) store(k * n1 + first, count, done.re + k * width, done.im + k * width);
}

// Asks whether a transform on one thread is cancelled, if it takes long; keeps the error.
struct Stop {
  const Call& call;
  bool is_long;
  fe_error* error = nullptr;
  bool operator()() {
    if (is_long && error == nullptr) error = cancelled(call);
    return error != nullptr;
  }
};
template <class R>
Stop stop_of(const Call& call, const Plan<R>& plan) {
  return {call, plan.length >= (1 << 18)};
}

template <class R, class Load, class Store>
void transform_as_matrix(const Plan<R>& plan, const Buffers<R>& buffers, Stop& stop, Load load, Store store) {
  for (int64_t block = 0; block * width_of<R> < plan.n2 && !stop(); ++block)
    transform_block_of_columns(plan, buffers, buffers.matrix, block, load);
  for (int64_t block = 0; block * width_of<R> < plan.n1 && !stop(); ++block)
    transform_block_of_rows(plan, buffers, buffers.matrix, block, store);
}

// The transform of the conjugated chirp, around zero, over the length.
template <class R>
void fill_kernel(const Plan<R>& plan, const Buffers<R>& buffers, Stop& stop) {
  const R factor = R(1) / static_cast<R>(plan.length);
  transform_as_matrix(
      plan, buffers, stop,
      [&](int64_t first, int64_t count, R* re, R* im) {
        for (int64_t i = 0; i < count; ++i) {
          const int64_t j = first + i, back = plan.length - j;
          const int64_t at = j < plan.n ? j : back < plan.n ? back : -1;
          re[i] = at < 0 ? R(0) : plan.chirp.re[at] * factor;
          im[i] = at < 0 ? R(0) : -plan.chirp.im[at] * factor;
        }
      },
      [&](int64_t first, int64_t count, const R* re, const R* im) {
        for (int64_t i = 0; i < count; ++i) {
          plan.kernel.re[first + i] = re[i];
          plan.kernel.im[first + i] = im[i];
        }
      });
}

template <class R, class Load, class Store>
void transform_by_convolution(const Plan<R>& plan, const Buffers<R>& buffers, Stop& stop, Load load, Store store) {
  const Parts<R> chirp = plan.chirp, kernel = plan.kernel, convolved = buffers.convolved;
  transform_as_matrix(
      plan, buffers, stop,
      [&](int64_t first, int64_t count, R* re, R* im) {
        const int64_t given = larger(0, smaller(count, plan.n - first));
        if (given > 0) load(first, given, re, im);
        for (int64_t i = 0; i < given; ++i) {
          const R a = re[i], b = im[i], c = chirp.re[first + i], s = chirp.im[first + i];
          re[i] = a * c - b * s;
          im[i] = a * s + b * c;
        }
        for (int64_t i = given; i < count; ++i) re[i] = im[i] = 0;
      },
      [&](int64_t first, int64_t count, const R* re, const R* im) {
        for (int64_t i = 0; i < count; ++i) {  // conjugated, so that the same transform leads back
          const R a = re[i], b = im[i], c = kernel.re[first + i], s = kernel.im[first + i];
          convolved.re[first + i] = a * c - b * s;
          convolved.im[first + i] = -(a * s + b * c);
        }
      });
  transform_as_matrix(
      plan, buffers, stop,
      [&](int64_t first, int64_t count, R* re, R* im) {
        for (int64_t i = 0; i < count; ++i) {
          re[i] = convolved.re[first + i];
          im[i] = convolved.im[first + i];
        }
      },
      [&](int64_t first, int64_t count, const R* re, const R* im) {
        const int64_t wanted = larger(0, smaller(count, plan.n - first));
        R product_re[width_of<R>], product_im[width_of<R>];
        for (int64_t i = 0; i < wanted; ++i) {
          const R a = re[i], b = -im[i], c = chirp.re[first + i], s = chirp.im[first + i];
          product_re[i] = a * c - b * s;
          product_im[i] = a * s + b * c;
        }
        if (wanted > 0) store(first, wanted, product_re, product_im);
      });
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
