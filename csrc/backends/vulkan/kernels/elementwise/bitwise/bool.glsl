// Bitwise logic on bool, which is one bit.

bool bitwise_invert_bool(bool a) { return !a; }
bool bitwise_and_bool(bool a, bool b) { return a && b; }
bool bitwise_or_bool(bool a, bool b) { return a || b; }
bool bitwise_xor_bool(bool a, bool b) { return a != b; }
