// Comparison of one floating-point type (floating_functions.glsl), by its bits.

bool OF(are_numbers)(FLOATING a, FLOATING b) { return !is_nan(a) && !is_nan(b); }
bool OF(equal)(FLOATING a, FLOATING b) { return OF(are_numbers)(a, b) && ordered(a) == ordered(b); }
bool OF(not_equal)(FLOATING a, FLOATING b) { return !OF(equal)(a, b); }
bool OF(less)(FLOATING a, FLOATING b) { return OF(are_numbers)(a, b) && ordered(a) < ordered(b); }
bool OF(less_equal)(FLOATING a, FLOATING b) { return OF(are_numbers)(a, b) && ordered(a) <= ordered(b); }
bool OF(greater)(FLOATING a, FLOATING b) { return OF(less)(b, a); }
bool OF(greater_equal)(FLOATING a, FLOATING b) { return OF(less_equal)(b, a); }
bool OF(signbit)(FLOATING a) { return sign_bit(a) != sign_bit(FLOATING(0)); }
bool OF(isnan)(FLOATING a) { return is_nan(a); }
bool OF(isinf)(FLOATING a) { return is_infinite(a); }
bool OF(isfinite)(FLOATING a) { return !is_nan(a) && !is_infinite(a); }
