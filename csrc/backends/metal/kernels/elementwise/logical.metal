// Logic on bool.
#pragma once
#include "elementwise/elements.metal"

inline bool op_logical_not(bool a) { return !a; }
inline bool op_logical_and(bool a, bool b) { return a && b; }
inline bool op_logical_or(bool a, bool b) { return a || b; }
inline bool op_logical_xor(bool a, bool b) { return a != b; }
