// Numbers of about 48 bits, as the sum of two floats (T. J. Dekker 1971, D. E. Knuth 1969).

struct Pair {
  float high, low;
};

// Requires |a| >= |b|.
Pair fast_sum(float a, float b) {
  precise float sum = a + b;
  precise float lost = b - (sum - a);
  return Pair(sum, lost);
}
Pair exact_sum(float a, float b) {
  precise float sum = a + b;
  precise float part = sum - a;
  precise float lost = (a - (sum - part)) + (b - part);
  return Pair(sum, lost);
}
// Requires |a|, |b| < 2^60.
Pair exact_product(float a, float b) {
  precise float product = a * b;
  precise float a_scaled = a * 4097.0, b_scaled = b * 4097.0;
  precise float a_high = a_scaled - (a_scaled - a), b_high = b_scaled - (b_scaled - b);
  precise float a_low = a - a_high, b_low = b - b_high;
  precise float lost = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
  return Pair(product, lost);
}
Pair sum_of(Pair a, Pair b) {
  Pair sum = exact_sum(a.high, b.high);
  precise float low = sum.low + (a.low + b.low);
  return fast_sum(sum.high, low);
}
Pair product_of(Pair a, Pair b) {
  Pair product = exact_product(a.high, b.high);
  precise float low = product.low + (a.high * b.low + a.low * b.high);
  return fast_sum(product.high, low);
}
Pair product_of(Pair a, float b) {
  Pair product = exact_product(a.high, b);
  precise float low = product.low + a.low * b;
  return fast_sum(product.high, low);
}
