// Metal Shading Language Specification, "Numeric Functions": numeric_limits.
#pragma once

namespace metal {

template <class T>
struct numeric_limits {
  static constexpr constant bool is_specialized = false;
};

#define FERRULE_INTEGER_LIMITS(T, bits, least, most)         \
  template <>                                                \
  struct numeric_limits<T> {                                 \
    static constexpr constant bool is_specialized = true;    \
    static constexpr constant bool is_signed = T(-1) < T(0); \
    static constexpr constant bool is_integer = true;        \
    static constexpr constant bool is_exact = true;          \
    static constexpr constant bool has_infinity = false;     \
    static constexpr constant bool has_quiet_NaN = false;    \
    static constexpr constant int digits = bits;             \
    static constexpr constant int radix = 2;                 \
    static constexpr T min() { return least; }               \
    static constexpr T lowest() { return least; }            \
    static constexpr T max() { return most; }                \
    static constexpr T epsilon() { return 0; }               \
    static constexpr T infinity() { return 0; }              \
    static constexpr T quiet_NaN() { return 0; }             \
  };
FERRULE_INTEGER_LIMITS(bool, 1, false, true)
FERRULE_INTEGER_LIMITS(char, 7, -128, 127)
FERRULE_INTEGER_LIMITS(int8_t, 7, -128, 127)
FERRULE_INTEGER_LIMITS(uchar, 8, 0, 255)
FERRULE_INTEGER_LIMITS(short, 15, -32768, 32767)
FERRULE_INTEGER_LIMITS(ushort, 16, 0, 65535)
FERRULE_INTEGER_LIMITS(int, 31, -2147483647 - 1, 2147483647)
FERRULE_INTEGER_LIMITS(uint, 32, 0, 0xffffffffU)
FERRULE_INTEGER_LIMITS(long, 63, -0x7fffffffffffffffL - 1, 0x7fffffffffffffffL)
FERRULE_INTEGER_LIMITS(ulong, 64, 0, 0xffffffffffffffffUL)
#undef FERRULE_INTEGER_LIMITS

#define FERRULE_FLOAT_LIMITS(T, bits, least, most, between, smallest) \
  template <>                                                         \
  struct numeric_limits<T> {                                          \
    static constexpr constant bool is_specialized = true;             \
    static constexpr constant bool is_signed = true;                  \
    static constexpr constant bool is_integer = false;                \
    static constexpr constant bool is_exact = false;                  \
    static constexpr constant bool has_infinity = true;               \
    static constexpr constant bool has_quiet_NaN = true;              \
    static constexpr constant int digits = bits;                      \
    static constexpr constant int radix = 2;                          \
    static constexpr T min() { return T(least); }                     \
    static constexpr T lowest() { return T(-(most)); }                \
    static constexpr T max() { return T(most); }                      \
    static constexpr T epsilon() { return T(between); }               \
    static constexpr T denorm_min() { return T(smallest); }           \
    static constexpr T infinity() { return T(__builtin_inff()); }     \
    static constexpr T quiet_NaN() { return T(__builtin_nanf("")); }  \
  };
FERRULE_FLOAT_LIMITS(float, 24, 0x1p-126f, 0x1.fffffep127f, 0x1p-23f, 0x1p-149f)
FERRULE_FLOAT_LIMITS(half, 11, 0x1p-14f, 0x1.ffcp15f, 0x1p-10f, 0x1p-24f)
FERRULE_FLOAT_LIMITS(bfloat, 8, 0x1p-126f, 0x1.fep127f, 0x1p-7f, 0x1p-133f)
#undef FERRULE_FLOAT_LIMITS

}  // namespace metal
