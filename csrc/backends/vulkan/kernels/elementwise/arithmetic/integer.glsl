// Arithmetic of one integer type (integer_functions.glsl); it wraps.

INTEGER OF(add)(INTEGER a, INTEGER b) { return a + b; }
INTEGER OF(subtract)(INTEGER a, INTEGER b) { return a - b; }
INTEGER OF(multiply)(INTEGER a, INTEGER b) { return a * b; }
INTEGER OF(square)(INTEGER a) { return a * a; }
INTEGER OF(negative)(INTEGER a) { return INTEGER(0) - a; }
INTEGER OF(abs)(INTEGER a) { return a < INTEGER(0) ? INTEGER(0) - a : a; }
INTEGER OF(sign)(INTEGER a) { return a > INTEGER(0) ? INTEGER(1) : a < INTEGER(0) ? ~INTEGER(0) : INTEGER(0); }

// Rounds towards minus infinity, as in Python; division by zero gives 0. The least number by -1 wraps; a device's own
// division need not.
INTEGER OF(floor_divide)(INTEGER a, INTEGER b) {
  if (b == INTEGER(0)) return INTEGER(0);
  if (INTEGER(-1) < INTEGER(0) && b == INTEGER(-1)) return INTEGER(0) - a;
  INTEGER quotient = a / b;
  bool inexact = quotient * b != a, opposite = (a < INTEGER(0)) != (b < INTEGER(0));
  return inexact && opposite ? quotient - INTEGER(1) : quotient;
}
INTEGER OF(remainder)(INTEGER a, INTEGER b) { return b == INTEGER(0) ? INTEGER(0) : a - OF(floor_divide)(a, b) * b; }
