// Choice between elements of one floating-point type (floating_functions.glsl), by its bits.

// NaN if a or b is NaN.
FLOATING OF(maximum)(FLOATING a, FLOATING b) { return is_nan(a) || (!is_nan(b) && ordered(a) > ordered(b)) ? a : b; }
FLOATING OF(minimum)(FLOATING a, FLOATING b) { return is_nan(a) || (!is_nan(b) && ordered(a) < ordered(b)) ? a : b; }
FLOATING OF(clip)(FLOATING a, FLOATING low, FLOATING high) { return OF(minimum)(OF(maximum)(a, low), high); }
FLOATING OF(where)(bool condition, FLOATING a, FLOATING b) { return condition ? a : b; }
