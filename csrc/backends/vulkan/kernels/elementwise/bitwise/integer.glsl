// Logic on the bits of one integer type (integer_functions.glsl).

INTEGER OF(bitwise_and)(INTEGER a, INTEGER b) { return a & b; }
INTEGER OF(bitwise_or)(INTEGER a, INTEGER b) { return a | b; }
INTEGER OF(bitwise_xor)(INTEGER a, INTEGER b) { return a ^ b; }
INTEGER OF(bitwise_invert)(INTEGER a) { return ~a; }

// A shift by the width or more, or by a negative count, is that of all bits. The upper bits of an integer of 8 or 16
// bits are its sign, so that the width of the type that holds it counts.
bool OF(shifts_out)(INTEGER n) { return n < INTEGER(0) || n >= INTEGER(INTEGER_BITS); }
INTEGER OF(bitwise_left_shift)(INTEGER a, INTEGER n) { return OF(shifts_out)(n) ? INTEGER(0) : a << int(n); }
INTEGER OF(bitwise_right_shift)(INTEGER a, INTEGER n) {
  if (OF(shifts_out)(n)) return a < INTEGER(0) ? ~INTEGER(0) : INTEGER(0);
  return a >> int(n);
}
