// Activation functions of one integer type (integer_functions.glsl).

INTEGER OF(relu)(INTEGER a) { return a > INTEGER(0) ? a : INTEGER(0); }
