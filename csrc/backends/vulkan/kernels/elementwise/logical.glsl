// Logic on bool.

bool logical_not_bool(bool a) { return !a; }
bool logical_and_bool(bool a, bool b) { return a && b; }
bool logical_or_bool(bool a, bool b) { return a || b; }
bool logical_xor_bool(bool a, bool b) { return a != b; }
