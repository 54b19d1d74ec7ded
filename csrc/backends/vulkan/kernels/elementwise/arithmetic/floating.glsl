// Arithmetic that is the same for all floating-point types (floating_functions.glsl).

// Tests bits, because Mesa compiles a choice of 0 and -1 to the negative of a choice of 0 and 1.
FLOATING OF(sign)(FLOATING a) { return is_nan(a) ? a : is_zero(a) ? FLOATING(0) : one_signed_as(a); }

// Division rounded towards minus infinity, as NumPy does it: starts from the exact remainder, so that a quotient just
// below an integer is not rounded up to it.
FLOATING OF(remainder)(FLOATING a, FLOATING b) {
  if (is_zero(b)) return OF(divide)(FLOATING(0), b);
  FLOATING rest = OF(fmod)(a, b);
  if (is_nan(rest)) return rest;
  if (is_zero(rest)) return is_below_zero(b) ? OF(negative)(FLOATING(0)) : FLOATING(0);
  return is_below_zero(rest) != is_below_zero(b) ? OF(add)(rest, b) : rest;
}
FLOATING OF(floor_divide)(FLOATING a, FLOATING b) {
  // The result for infinities is floor(a / b), as the array API standard prefers.
  if (is_zero(b) || is_nan(a) || is_infinite(a) || is_nan(b) || is_infinite(b)) return OF(divide)(a, b);
  FLOATING rest = OF(fmod)(a, b);
  FLOATING quotient = OF(divide)(OF(subtract)(a, rest), b);
  if (!is_zero(rest) && is_below_zero(rest) != is_below_zero(b)) quotient = OF(subtract)(quotient, FLOATING(1));
  if (is_zero(quotient)) return sign_bit(a) != sign_bit(b) ? OF(negative)(FLOATING(0)) : FLOATING(0);
  FLOATING whole = OF(floor)(quotient);
  return OF(greater)(OF(subtract)(quotient, whole), FLOATING(0.5)) ? OF(add)(whole, FLOATING(1)) : whole;
}
