// Logic on the bits of integers; a bool is one bit.
#pragma once
#include "elementwise/elements.metal"

template <typename T>
T op_bitwise_and(T a, T b) {
  return T(a & b);
}
template <typename T>
T op_bitwise_or(T a, T b) {
  return T(a | b);
}
template <typename T>
T op_bitwise_xor(T a, T b) {
  return T(a ^ b);
}
template <typename T>
T op_bitwise_invert(T a) {
  return T(~a);
}
inline bool op_bitwise_invert(bool a) { return !a; }

// A shift by the width or more, or by a negative count, is that of all bits.
template <typename T>
bool shifts_out(T n) {
  return n < T(0) || n >= T(8 * sizeof(T));
}
template <typename T>
T op_bitwise_left_shift(T a, T n) {
  return shifts_out(n) ? T(0) : T(typename Wrapping<T>::type(a) << uint(n));
}
template <typename T>
T op_bitwise_right_shift(T a, T n) {
  if (shifts_out(n)) return a < T(0) ? T(-1) : T(0);
  return T(a >> uint(n));
}
