// Conversions between the types in which dtypes are computed. Conversions to floating point round once; the `odd` ones
// are for values that are then rounded to a half (float_bits.glsl).

uint sign_of(int64_t x) { return x < int64_t(0) ? SIGN_BIT : 0u; }
uint sign_of(int x) { return uint(x) & SIGN_BIT; }
uint64_t magnitude_of(int64_t x) { return uint64_t(x < int64_t(0) ? -x : x); }
uint64_t magnitude_of(int x) { return uint64_t(uint(x < 0 ? -x : x)); }

int cast_bool_i32(bool x) { return int(x); }
uint cast_bool_u32(bool x) { return uint(x); }
int64_t cast_bool_i64(bool x) { return int64_t(x ? 1 : 0); }
uint64_t cast_bool_u64(bool x) { return uint64_t(x ? 1 : 0); }
float cast_bool_f32(bool x) { return x ? 1.0 : 0.0; }

bool cast_i32_bool(int x) { return x != 0; }
uint cast_i32_u32(int x) { return uint(x); }
// Builds both halves separately: Mesa 22.3 evaluates int64_t(x) < 0 to false.
uint64_t cast_i32_u64(int x) { return uint64_t(uint(x >> 31)) << 32 | uint64_t(uint(x)); }
int64_t cast_i32_i64(int x) { return int64_t(cast_i32_u64(x)); }
float cast_i32_f32(int x) { return float_of(sign_of(x), magnitude_of(x)); }
float odd_i32_f32(int x) { return float_to_odd(sign_of(x), magnitude_of(x)); }

bool cast_u32_bool(uint x) { return x != 0u; }
int cast_u32_i32(uint x) { return int(x); }
int64_t cast_u32_i64(uint x) { return int64_t(uint64_t(x)); }
uint64_t cast_u32_u64(uint x) { return uint64_t(x); }
float cast_u32_f32(uint x) { return float_of(0u, uint64_t(x)); }
float odd_u32_f32(uint x) { return float_to_odd(0u, uint64_t(x)); }

bool cast_i64_bool(int64_t x) { return x != int64_t(0); }
int cast_i64_i32(int64_t x) { return int(x); }
uint cast_i64_u32(int64_t x) { return uint(uint64_t(x)); }
uint64_t cast_i64_u64(int64_t x) { return uint64_t(x); }
float cast_i64_f32(int64_t x) { return float_of(sign_of(x), magnitude_of(x)); }
float odd_i64_f32(int64_t x) { return float_to_odd(sign_of(x), magnitude_of(x)); }

bool cast_u64_bool(uint64_t x) { return x != uint64_t(0); }
int cast_u64_i32(uint64_t x) { return int(uint(x)); }
uint cast_u64_u32(uint64_t x) { return uint(x); }
int64_t cast_u64_i64(uint64_t x) { return int64_t(x); }
float cast_u64_f32(uint64_t x) { return float_of(0u, x); }
float odd_u64_f32(uint64_t x) { return float_to_odd(0u, x); }

// Values outside an integer's range give the nearest end of the range; NaN gives 0.
int64_t saturated_i64(bool is_negative, uint64_t magnitude) {
  uint64_t limit = uint64_t(1) << 63;
  if (is_negative) return magnitude >= limit ? int64_t(limit) : -int64_t(magnitude);
  return int64_t(min(magnitude, limit - uint64_t(1)));
}
int saturated_i32(int64_t x) { return int(clamp(x, int64_t(-2147483647) - int64_t(1), int64_t(2147483647))); }

bool cast_f32_bool(float x) { return !is_zero(x); }
int64_t cast_f32_i64(float x) { return saturated_i64(sign_bit(x) != 0u, whole_magnitude(x)); }
uint64_t cast_f32_u64(float x) { return sign_bit(x) != 0u ? uint64_t(0) : whole_magnitude(x); }
int cast_f32_i32(float x) { return saturated_i32(cast_f32_i64(x)); }
uint cast_f32_u32(float x) { return uint(min(cast_f32_u64(x), uint64_t(0xffffffffu))); }
