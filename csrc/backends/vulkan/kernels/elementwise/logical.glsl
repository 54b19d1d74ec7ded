// bool, of which less is false.

bool logical_not_bool(bool a) { return !a; }
bool logical_and_bool(bool a, bool b) { return a && b; }
bool logical_or_bool(bool a, bool b) { return a || b; }
bool logical_xor_bool(bool a, bool b) { return a != b; }
bool bitwise_invert_bool(bool a) { return !a; }
bool bitwise_and_bool(bool a, bool b) { return a && b; }
bool bitwise_or_bool(bool a, bool b) { return a || b; }
bool bitwise_xor_bool(bool a, bool b) { return a != b; }
bool equal_bool(bool a, bool b) { return a == b; }
bool not_equal_bool(bool a, bool b) { return a != b; }
bool less_bool(bool a, bool b) { return !a && b; }
bool less_equal_bool(bool a, bool b) { return !a || b; }
bool greater_bool(bool a, bool b) { return a && !b; }
bool greater_equal_bool(bool a, bool b) { return a || !b; }
bool maximum_bool(bool a, bool b) { return a || b; }
bool minimum_bool(bool a, bool b) { return a && b; }
bool where_bool(bool condition, bool a, bool b) { return condition ? a : b; }
