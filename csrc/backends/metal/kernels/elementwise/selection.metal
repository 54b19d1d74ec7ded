// Choice between elements, of floats by their bits.
#pragma once
#include "elementwise/elements.metal"

// For bool, false is less than true.
template <typename T>
T op_maximum(T a, T b) {
  return a > b ? a : b;
}
template <typename T>
T op_minimum(T a, T b) {
  return a < b ? a : b;
}
// NaN if a or b is NaN.
inline float op_maximum(float a, float b) { return is_nan(a) || (!is_nan(b) && ordered(a) > ordered(b)) ? a : b; }
inline float op_minimum(float a, float b) { return is_nan(a) || (!is_nan(b) && ordered(a) < ordered(b)) ? a : b; }
template <typename T>
T op_clip(T a, T low, T high) {
  return op_minimum(op_maximum(a, low), high);
}
template <typename T>
T op_where(bool condition, T a, T b) {
  return condition ? a : b;
}
