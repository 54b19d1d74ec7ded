// Division of one floating-point type rounded towards minus infinity, as NumPy does it: from the exact remainder, so
// that a quotient that rounds up to an integer is not taken for it. Included once for each type.

FLOAT OF(remainder)(FLOAT a, FLOAT b) {
  if (is_zero(b)) return OF(divide)(FLOAT(0), b);
  FLOAT rest = OF(fmod)(a, b);
  if (is_nan(rest)) return rest;
  if (is_zero(rest)) return is_below_zero(b) ? OF(negative)(FLOAT(0)) : FLOAT(0);
  return is_below_zero(rest) != is_below_zero(b) ? OF(add)(rest, b) : rest;
}
FLOAT OF(floor_divide)(FLOAT a, FLOAT b) {
  if (is_zero(b)) return OF(divide)(a, b);
  FLOAT rest = OF(fmod)(a, b);
  if (is_nan(rest)) return rest;
  FLOAT quotient = OF(divide)(OF(subtract)(a, rest), b);
  if (!is_zero(rest) && is_below_zero(rest) != is_below_zero(b)) quotient = OF(subtract)(quotient, FLOAT(1));
  if (is_zero(quotient)) return sign_bit(a) != sign_bit(b) ? OF(negative)(FLOAT(0)) : FLOAT(0);
  FLOAT whole = OF(floor)(quotient);
  return OF(greater)(OF(subtract)(quotient, whole), FLOAT(0.5)) ? OF(add)(whole, FLOAT(1)) : whole;
}
