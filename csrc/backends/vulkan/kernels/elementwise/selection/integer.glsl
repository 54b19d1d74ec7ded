// Choice between elements of one integer type (integer_functions.glsl).

INTEGER OF(maximum)(INTEGER a, INTEGER b) { return a > b ? a : b; }
INTEGER OF(minimum)(INTEGER a, INTEGER b) { return a < b ? a : b; }
INTEGER OF(clip)(INTEGER a, INTEGER low, INTEGER high) { return OF(minimum)(OF(maximum)(a, low), high); }
INTEGER OF(where)(bool condition, INTEGER a, INTEGER b) { return condition ? a : b; }
