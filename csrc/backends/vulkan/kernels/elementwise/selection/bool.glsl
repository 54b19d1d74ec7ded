// Choice between elements of bool: false is less than true.

bool maximum_bool(bool a, bool b) { return a || b; }
bool minimum_bool(bool a, bool b) { return a && b; }
bool where_bool(bool condition, bool a, bool b) { return condition ? a : b; }
