// Comparison. Floats are compared by their bits, because a GPU may take subnormal numbers for zeros.
#pragma once
#include "elementwise/elements.metal"

template <typename T>
bool op_equal(T a, T b) {
  return a == b;
}
template <typename T>
bool op_not_equal(T a, T b) {
  return a != b;
}
// For bool, false is less than true.
template <typename T>
bool op_less(T a, T b) {
  return a < b;
}
template <typename T>
bool op_less_equal(T a, T b) {
  return a <= b;
}
template <typename T>
bool op_greater(T a, T b) {
  return a > b;
}
template <typename T>
bool op_greater_equal(T a, T b) {
  return a >= b;
}

inline bool are_numbers(float a, float b) { return !is_nan(a) && !is_nan(b); }
inline bool op_equal(float a, float b) { return are_numbers(a, b) && ordered(a) == ordered(b); }
inline bool op_not_equal(float a, float b) { return !op_equal(a, b); }
inline bool op_less(float a, float b) { return are_numbers(a, b) && ordered(a) < ordered(b); }
inline bool op_less_equal(float a, float b) { return are_numbers(a, b) && ordered(a) <= ordered(b); }
inline bool op_greater(float a, float b) { return op_less(b, a); }
inline bool op_greater_equal(float a, float b) { return op_less_equal(b, a); }

inline bool op_signbit(float a) { return is_negative(a); }

// Integers are finite.
template <typename T>
bool op_isnan(T) {
  return false;
}
template <typename T>
bool op_isinf(T) {
  return false;
}
template <typename T>
bool op_isfinite(T) {
  return true;
}
inline bool op_isnan(float a) { return is_nan(a); }
inline bool op_isinf(float a) { return is_infinite(a); }
inline bool op_isfinite(float a) { return magnitude_bits(a) < infinity_bits; }
