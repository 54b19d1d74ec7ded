// Rounding of one integer type (integer_functions.glsl).

INTEGER OF(floor)(INTEGER a) { return a; }
INTEGER OF(ceil)(INTEGER a) { return a; }
INTEGER OF(trunc)(INTEGER a) { return a; }
INTEGER OF(round)(INTEGER a) { return a; }
