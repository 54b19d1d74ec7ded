// Powers of one integer type (integer_functions.glsl).

// Powers by squaring, modulo 2^width. A negative exponent is an error of the execution, whose message names the dtype.
INTEGER OF(pow)(INTEGER base, INTEGER exponent, uint dtype) {
  if (exponent < INTEGER(0)) {
    report_fault(FAULT_POWER, dtype, int64_t(0), int64_t(0), int64_t(0));
    return INTEGER(0);
  }
  INTEGER result = INTEGER(1);
  for (; exponent != INTEGER(0); exponent >>= 1) {
    if ((exponent & INTEGER(1)) != INTEGER(0)) result *= base;
    base *= base;
  }
  return result;
}
