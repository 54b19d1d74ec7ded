// Arithmetic of one integer type, which wraps. Included once for each: WHOLE is the type, OF(add) the name of its add.
// Dtypes of 8 and 16 bits are computed in 32, and then wrapped or saturated.

WHOLE OF(add)(WHOLE a, WHOLE b) { return a + b; }
WHOLE OF(subtract)(WHOLE a, WHOLE b) { return a - b; }
WHOLE OF(multiply)(WHOLE a, WHOLE b) { return a * b; }
WHOLE OF(square)(WHOLE a) { return a * a; }
WHOLE OF(negative)(WHOLE a) { return WHOLE(0) - a; }
WHOLE OF(abs)(WHOLE a) { return a < WHOLE(0) ? WHOLE(0) - a : a; }
WHOLE OF(sign)(WHOLE a) { return a > WHOLE(0) ? WHOLE(1) : a < WHOLE(0) ? ~WHOLE(0) : WHOLE(0); }
WHOLE OF(floor)(WHOLE a) { return a; }
WHOLE OF(ceil)(WHOLE a) { return a; }
WHOLE OF(trunc)(WHOLE a) { return a; }
WHOLE OF(round)(WHOLE a) { return a; }
WHOLE OF(relu)(WHOLE a) { return a > WHOLE(0) ? a : WHOLE(0); }

// Rounded towards minus infinity, as in Python; by zero: 0. By -1 the least number wraps, which a device may not do.
WHOLE OF(floor_divide)(WHOLE a, WHOLE b) {
  if (b == WHOLE(0)) return WHOLE(0);
  if (WHOLE(-1) < WHOLE(0) && b == WHOLE(-1)) return WHOLE(0) - a;
  WHOLE quotient = a / b;
  bool inexact = quotient * b != a, opposite = (a < WHOLE(0)) != (b < WHOLE(0));
  return inexact && opposite ? quotient - WHOLE(1) : quotient;
}
WHOLE OF(remainder)(WHOLE a, WHOLE b) { return b == WHOLE(0) ? WHOLE(0) : a - OF(floor_divide)(a, b) * b; }

// By squaring, modulo 2^width. A negative exponent is an error of the execution, which names the dtype.
WHOLE OF(pow)(WHOLE base, WHOLE exponent, uint dtype) {
  if (exponent < WHOLE(0)) {
    report_fault(FAULT_POWER, dtype, int64_t(0), int64_t(0), int64_t(0));
    return WHOLE(0);
  }
  WHOLE result = WHOLE(1);
  for (; exponent != WHOLE(0); exponent >>= 1) {
    if ((exponent & WHOLE(1)) != WHOLE(0)) result *= base;
    base *= base;
  }
  return result;
}

WHOLE OF(bitwise_and)(WHOLE a, WHOLE b) { return a & b; }
WHOLE OF(bitwise_or)(WHOLE a, WHOLE b) { return a | b; }
WHOLE OF(bitwise_xor)(WHOLE a, WHOLE b) { return a ^ b; }
WHOLE OF(bitwise_invert)(WHOLE a) { return ~a; }

bool OF(equal)(WHOLE a, WHOLE b) { return a == b; }
bool OF(not_equal)(WHOLE a, WHOLE b) { return a != b; }
bool OF(less)(WHOLE a, WHOLE b) { return a < b; }
bool OF(less_equal)(WHOLE a, WHOLE b) { return a <= b; }
bool OF(greater)(WHOLE a, WHOLE b) { return a > b; }
bool OF(greater_equal)(WHOLE a, WHOLE b) { return a >= b; }
WHOLE OF(maximum)(WHOLE a, WHOLE b) { return a > b ? a : b; }
WHOLE OF(minimum)(WHOLE a, WHOLE b) { return a < b ? a : b; }
WHOLE OF(clip)(WHOLE a, WHOLE low, WHOLE high) { return OF(minimum)(OF(maximum)(a, low), high); }
WHOLE OF(where)(bool condition, WHOLE a, WHOLE b) { return condition ? a : b; }
