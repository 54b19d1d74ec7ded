// Elementwise arithmetic. Integers wrap; division follows Python: floor_divide and remainder round towards minus
// infinity, and an integer divided by zero is zero, as in NumPy.
#include "elementwise.h"
#include "half.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

struct Add {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a + b);
  }
};
struct Subtract {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a - b);
  }
};
struct Multiply {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (sizeof(T) == 2 && static_cast<T>(0.5) == T(0))
      return static_cast<T>(static_cast<uint32_t>(a) * static_cast<uint32_t>(b));
    else
      return static_cast<T>(a * b);
  }
};
struct Divide {
  template <class T>
  T operator()(T a, T b) const {
    return a / b;
  }
};
struct Negative {
  template <class T>
  T operator()(T a) const {
    return static_cast<T>(-a);
  }
};
struct Positive {
  template <class T>
  T operator()(T a) const {
    return a;
  }
};
struct Square {
  template <class T>
  T operator()(T a) const {
    return Multiply{}(a, a);
  }
};
struct Reciprocal {
  template <class T>
  T operator()(T a) const {
    return T(1) / a;
  }
};
struct Abs {
  float operator()(float a) const { return __builtin_fabsf(a); }
  double operator()(double a) const { return __builtin_fabs(a); }
  template <class T>
  T operator()(T a) const {
    return static_cast<T>(a < 0 ? -a : a);
  }
};
struct Sign {
  template <class T>
  T operator()(T a) const {
    if constexpr (static_cast<T>(0.5) != T(0)) {
      return a > T(0) ? T(1) : a < T(0) ? T(-1) : a == T(0) ? T(0) : a;
    } else {
      return static_cast<T>((a > T(0)) - (a < T(0)));
    }
  }
};
template <class T>
constexpr bool is_signed_integer = T(-1) < T(0);

struct FloorDivide {
  float operator()(float a, float b) const { return run(a, b, ::fmodf, ::floorf); }
  double operator()(double a, double b) const { return run(a, b, ::fmod, ::floor); }
  template <class T>
  T operator()(T a, T b) const {
    if (b == T(0)) return T(0);
    if constexpr (is_signed_integer<T>) {
      if (b == T(-1)) return static_cast<T>(-a);
      const T q = static_cast<T>(a / b);
      return static_cast<T>(q - ((a % b != 0) & ((a < 0) != (b < 0))));
    } else {
      return static_cast<T>(a / b);
    }
  }
  // As NumPy: starts from the exact remainder, so that a quotient just below an integer is not rounded up to it.
  template <class T>
  static T run(T a, T b, T (*mod)(T, T), T (*floor)(T)) {
    if (b == T(0)) return a / b;
    T rest = mod(a, b);
    if (rest != rest) return rest;
    T q = (a - rest) / b;
    if (rest != T(0) && ((b < T(0)) != (rest < T(0)))) q -= T(1);
    if (q != T(0)) {
      const T whole = floor(q);
      return q - whole > T(0.5) ? whole + T(1) : whole;
    }
    return 1 / (a / b) < T(0) ? -T(0) : T(0);  // a zero with the sign of a / b, which is finite here
  }
};
struct Remainder {
  float operator()(float a, float b) const { return run(a, b, ::fmodf); }
  double operator()(double a, double b) const { return run(a, b, ::fmod); }
  template <class T>
  T operator()(T a, T b) const {
    if (b == T(0)) return T(0);
    if constexpr (is_signed_integer<T>) {
      if (b == T(-1)) return T(0);
      const T r = static_cast<T>(a % b);
      return static_cast<T>(r != 0 && ((r < 0) != (b < 0)) ? r + b : r);
    } else {
      return static_cast<T>(a % b);
    }
  }
  template <class T>
  static T run(T a, T b, T (*mod)(T, T)) {
    const T r = mod(a, b);
    if (r == T(0)) return b < T(0) ? -T(0) : T(0);
    return (r < T(0)) != (b < T(0)) ? r + b : r;  // NaN if r is NaN: a or b is NaN, a is infinite, or b is 0
  }
};
// The result has the sign of a, as with math.fmod.
struct Fmod {
  float operator()(float a, float b) const { return ::fmodf(a, b); }
  double operator()(double a, double b) const { return ::fmod(a, b); }
};
struct Copysign {
  float operator()(float a, float b) const { return __builtin_copysignf(a, b); }
  double operator()(double a, double b) const { return __builtin_copysign(a, b); }
};
struct Nextafter {
  float operator()(float a, float b) const { return ::nextafterf(a, b); }
  double operator()(double a, double b) const { return ::nextafter(a, b); }
};
// The bit patterns of halves increase with the magnitude.
struct NextHalf {
  template <class T>
  T operator()(T a, T b) const {
    const float x = widen(a), y = widen(b);
    if (x != x || y != y) return stored<T>(x + y);
    if (x == y) return b;
    if (x == 0) return {static_cast<uint16_t>((b.bits & 0x8000u) | 1u)};
    return {static_cast<uint16_t>((x < y) == (x > 0) ? a.bits + 1u : a.bits - 1u)};
  }
};
// frexp from the bits of a number: x = m * 2^e, where 0.5 <= |m| < 1. For zeros, infinities and NaN, m = x and e = 0.
template <class Float, class Bits, class Signed, int mantissa_bits>
struct Frexp {
  static constexpr Bits hidden = Bits{1} << mantissa_bits, sign = Bits{1} << (8 * sizeof(Bits) - 1);
  static constexpr Bits infinity = (sign - 1) & ~(hidden - 1);
  static constexpr Signed bias = static_cast<Signed>(infinity >> (mantissa_bits + 1)) - 1;
  static constexpr Float scale = static_cast<Float>(hidden);

  // The bits of x and, in `exponent`, its exponent. A subnormal x is multiplied by 2^mantissa_bits first, which makes
  // it normal.
  static Bits normal(Float x, Signed& exponent) {
    const Bits bits = __builtin_bit_cast(Bits, x), magnitude = bits & ~sign;
    const Bits scaled = __builtin_bit_cast(Bits, x * scale);
    const Bits found = magnitude < hidden ? scaled : bits;
    const Signed less = magnitude < hidden ? mantissa_bits : 0;
    exponent = static_cast<Signed>((found & ~sign) >> mantissa_bits) - bias - less;
    return found;
  }
  static bool has_none(Float x) {
    const Bits magnitude = __builtin_bit_cast(Bits, x) & ~sign;
    return magnitude == 0 || magnitude >= infinity;
  }
};
using Frexp32 = Frexp<float, uint32_t, int32_t, 23>;
using Frexp64 = Frexp<double, uint64_t, int64_t, 52>;
template <class F, class Float>
Float mantissa_of(Float x) {
  decltype(F::bias + 0) exponent;
  const auto half = static_cast<decltype(F::hidden + 0)>(F::bias) * F::hidden;  // the bits of 0.5 without its mantissa
  const auto bits = (F::normal(x, exponent) & (F::sign | (F::hidden - 1))) | half;
  return F::has_none(x) ? x : __builtin_bit_cast(Float, bits);
}
template <class F, class Float>
int32_t exponent_of(Float x) {
  decltype(F::bias + 0) exponent;
  F::normal(x, exponent);
  return F::has_none(x) ? 0 : static_cast<int32_t>(exponent);
}
struct Mantissa {
  float operator()(float x) const { return mantissa_of<Frexp32>(x); }
  double operator()(double x) const { return mantissa_of<Frexp64>(x); }
};
struct Exponent {
  int32_t operator()(float x) const { return exponent_of<Frexp32>(x); }
  int32_t operator()(double x) const { return exponent_of<Frexp64>(x); }
};
struct Hypot {
  float operator()(float a, float b) const { return ::hypotf(a, b); }
  double operator()(double a, double b) const { return ::hypot(a, b); }
};

// The types whose sums, products and quotients the processor rounds: those of float16 have the bits of float32's
// rounded to float16, which has fewer than half of its digits.
#if defined(__AVX512FP16__)
#define FERRULE_NATIVE_FLOATS FERRULE_FLOATS, _Float16
template <>
constexpr DType dtype_of<_Float16> = DType::f16;
#else
#define FERRULE_NATIVE_FLOATS FERRULE_FLOATS
#endif

}  // namespace

ELEMENTWISE(add, (binary<Add, FERRULE_NATIVE_FLOATS, FERRULE_INTEGERS>()))
ELEMENTWISE(subtract, (binary<Subtract, FERRULE_NATIVE_FLOATS, FERRULE_INTEGERS>()))
ELEMENTWISE(multiply, (binary<Multiply, FERRULE_NATIVE_FLOATS, FERRULE_INTEGERS>()))
ELEMENTWISE(divide, (binary<Divide, FERRULE_NATIVE_FLOATS>()))
ELEMENTWISE(floor_divide, (binary<FloorDivide, FERRULE_FLOATS, FERRULE_INTEGERS>()))
ELEMENTWISE(remainder, (binary<Remainder, FERRULE_FLOATS, FERRULE_INTEGERS>()))
ELEMENTWISE(fmod, (binary<Fmod, FERRULE_FLOATS>()))
ELEMENTWISE(copysign, (binary<Copysign, FERRULE_FLOATS>()))
ELEMENTWISE(nextafter, (binary<Nextafter, FERRULE_FLOATS>() + binary<NextHalf, Float16, BFloat16>()))
ELEMENTWISE(frexp, (unary<Mantissa, FERRULE_FLOATS>() +
                    blocks(Block{run_unary<Exponent, int32_t, float>, {DType::f32}, 1, DType::i32, 1},
                           Block{run_unary<Exponent, int32_t, double>, {DType::f64}, 1, DType::i32, 1})))
ELEMENTWISE(hypot, (binary<Hypot, FERRULE_FLOATS>()))
ELEMENTWISE(negative, (unary<Negative, FERRULE_FLOATS, FERRULE_INTEGERS>()))
ELEMENTWISE(positive, (unary<Positive, FERRULE_FLOATS, FERRULE_INTEGERS, bool>()))
ELEMENTWISE(square, (unary<Square, FERRULE_FLOATS, FERRULE_INTEGERS>()))
ELEMENTWISE(reciprocal, (unary<Reciprocal, FERRULE_FLOATS>()))
ELEMENTWISE(abs, (unary<Abs, FERRULE_FLOATS, FERRULE_INTEGERS>()))
ELEMENTWISE(sign, (unary<Sign, FERRULE_FLOATS, FERRULE_INTEGERS>()))

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
