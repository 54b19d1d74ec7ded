// Activation functions of one floating-point type (floating_functions.glsl), by its bits.

FLOATING OF(relu)(FLOATING a) { return is_nan(a) || ordered(a) > ordered(FLOATING(0)) ? a : FLOATING(0); }
