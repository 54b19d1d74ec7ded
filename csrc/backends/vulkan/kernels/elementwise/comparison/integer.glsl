// Comparison of one integer type (integer_functions.glsl).

bool OF(equal)(INTEGER a, INTEGER b) { return a == b; }
bool OF(not_equal)(INTEGER a, INTEGER b) { return a != b; }
bool OF(less)(INTEGER a, INTEGER b) { return a < b; }
bool OF(less_equal)(INTEGER a, INTEGER b) { return a <= b; }
bool OF(greater)(INTEGER a, INTEGER b) { return a > b; }
bool OF(greater_equal)(INTEGER a, INTEGER b) { return a >= b; }
