// Comparison of bool: false is less than true.

bool equal_bool(bool a, bool b) { return a == b; }
bool not_equal_bool(bool a, bool b) { return a != b; }
bool less_bool(bool a, bool b) { return !a && b; }
bool less_equal_bool(bool a, bool b) { return !a || b; }
bool greater_bool(bool a, bool b) { return a && !b; }
bool greater_equal_bool(bool a, bool b) { return a || !b; }
