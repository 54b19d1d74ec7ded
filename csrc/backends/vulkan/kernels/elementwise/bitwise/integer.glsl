// Logic on the bits of one integer type (integer_functions.glsl).

INTEGER OF(bitwise_and)(INTEGER a, INTEGER b) { return a & b; }
INTEGER OF(bitwise_or)(INTEGER a, INTEGER b) { return a | b; }
INTEGER OF(bitwise_xor)(INTEGER a, INTEGER b) { return a ^ b; }
INTEGER OF(bitwise_invert)(INTEGER a) { return ~a; }
