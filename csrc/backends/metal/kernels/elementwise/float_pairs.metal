// Numbers of about 48 bits, as the sum of two floats (T. J. Dekker 1971, D. E. Knuth 1969).
#pragma once
#include "elementwise/elements.metal"

struct Pair {
  float high, low;
};

// Requires |a| >= |b|.
inline Pair fast_sum(float a, float b) {
  const float sum = a + b;
  return Pair{sum, b - (sum - a)};
}
inline Pair exact_sum(float a, float b) {
  const float sum = a + b, part = sum - a;
  return Pair{sum, (a - (sum - part)) + (b - part)};
}
// MSL rounds fma correctly.
inline Pair exact_product(float a, float b) {
  const float product = a * b;
  return Pair{product, fma(a, b, -product)};
}
inline Pair sum_of(Pair a, Pair b) {
  const Pair sum = exact_sum(a.high, b.high);
  return fast_sum(sum.high, sum.low + (a.low + b.low));
}
inline Pair product_of(Pair a, Pair b) {
  const Pair product = exact_product(a.high, b.high);
  return fast_sum(product.high, product.low + (a.high * b.low + a.low * b.high));
}
inline Pair product_of(Pair a, float b) {
  const Pair product = exact_product(a.high, b);
  return fast_sum(product.high, product.low + a.low * b);
}
// a x + b
inline Pair line_of(float a, float x, float b) {
  const Pair product = exact_product(a, x), sum = exact_sum(product.high, b);
  return Pair{sum.high, sum.low + product.low};
}
