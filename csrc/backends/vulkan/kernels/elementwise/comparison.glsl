// Comparison and choice of one floating-point type, by its bits. Included once for each: FLOAT is the type, OF(less)
// the name of its less.

bool OF(are_numbers)(FLOAT a, FLOAT b) { return !is_nan(a) && !is_nan(b); }
bool OF(equal)(FLOAT a, FLOAT b) { return OF(are_numbers)(a, b) && ordered(a) == ordered(b); }
bool OF(not_equal)(FLOAT a, FLOAT b) { return !OF(equal)(a, b); }
bool OF(less)(FLOAT a, FLOAT b) { return OF(are_numbers)(a, b) && ordered(a) < ordered(b); }
bool OF(less_equal)(FLOAT a, FLOAT b) { return OF(are_numbers)(a, b) && ordered(a) <= ordered(b); }
bool OF(greater)(FLOAT a, FLOAT b) { return OF(less)(b, a); }
bool OF(greater_equal)(FLOAT a, FLOAT b) { return OF(less_equal)(b, a); }
bool OF(isnan)(FLOAT a) { return is_nan(a); }
bool OF(isinf)(FLOAT a) { return is_infinite(a); }
bool OF(isfinite)(FLOAT a) { return !is_nan(a) && !is_infinite(a); }

// NaN if either is.
FLOAT OF(maximum)(FLOAT a, FLOAT b) { return is_nan(a) || (!is_nan(b) && ordered(a) > ordered(b)) ? a : b; }
FLOAT OF(minimum)(FLOAT a, FLOAT b) { return is_nan(a) || (!is_nan(b) && ordered(a) < ordered(b)) ? a : b; }
FLOAT OF(clip)(FLOAT a, FLOAT low, FLOAT high) { return OF(minimum)(OF(maximum)(a, low), high); }
FLOAT OF(relu)(FLOAT a) { return is_nan(a) || ordered(a) > ordered(FLOAT(0)) ? a : FLOAT(0); }
FLOAT OF(where)(bool condition, FLOAT a, FLOAT b) { return condition ? a : b; }
// By bits: Mesa takes a choice of 0 and -1 for the negative of 0 and 1.
FLOAT OF(sign)(FLOAT a) { return is_nan(a) ? a : is_zero(a) ? FLOAT(0) : one_signed_as(a); }
