// Elementwise arithmetic. Integers wrap; division follows Python: floor_divide and remainder round towards minus
// infinity, and an integer divided by zero is zero, as in NumPy.
#include "complex.h"
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
  // Computes a quotient of complex numbers without the products by zero, which would lose signs of zeros.
  template <class T>
  Complex<T> operator()(Complex<T> z) const {
    if (__builtin_fabs(z.real) >= __builtin_fabs(z.imaginary)) {
      const T ratio = z.imaginary / z.real, divisor = z.real + rounded(z.imaginary * ratio);
      return {T(1) / divisor, -ratio / divisor};
    }
    const T ratio = z.real / z.imaginary, divisor = z.imaginary + rounded(z.real * ratio);
    return {ratio / divisor, T(-1) / divisor};
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
  // Starts from the exact remainder, so that a quotient just below an integer is not rounded up to it. The result for
  // infinities is floor(a / b), which the array API standard prefers to Python's results.
  template <class T>
  static T run(T a, T b, T (*mod)(T, T), T (*floor)(T)) {
    if (b == T(0) || a - a != T(0) || b - b != T(0)) return a / b;
    T rest = mod(a, b);
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

// Complex products with two products of vectors each: of (a, b) and (c, d) it is (a c - b d, a d + b c).
template <class T>
void multiply_complex(const void* const* in, void* out, size_t count, const void*) {
  const Full<T> d;
  const T *x = static_cast<const T*>(in[0]), *y = static_cast<const T*>(in[1]);
  T* z = static_cast<T*>(out);
  constexpr size_t n = lanes_of<T>;
  const auto product = [](auto tag, auto a, auto b) HWY_ATTR {
    const auto by_real = hn::Mul(hn::DupEven(a), b), by_imaginary = hn::Mul(hn::DupOdd(a), hn::Reverse2(tag, b));
    return hn::OddEven(hn::Add(by_real, by_imaginary), hn::Sub(by_real, by_imaginary));
  };
  size_t i = 0;
  for (; i + n <= 2 * count; i += n) hn::StoreU(product(d, hn::LoadU(d, x + i), hn::LoadU(d, y + i)), d, z + i);
  if (const size_t rest = 2 * count - i; rest > 0) {
    const auto a = load_first<T>(d, x + i, rest, T(1)), b = load_first<T>(d, y + i, rest, T(1));
    store_first<T>(d, product(d, a, b), z + i, rest);
  }
}
template <class T>
void square_complex(const void* const* in, void* out, size_t count, const void* attributes) {
  const void* const both[] = {in[0], in[0]};
  multiply_complex<T>(both, out, count, attributes);
}
constexpr auto complex_products =
    elementwise_kernels(ElementwiseKernel{multiply_complex<float>, {DType::c64, DType::c64}, 2, DType::c64},
                        ElementwiseKernel{multiply_complex<double>, {DType::c128, DType::c128}, 2, DType::c128});
constexpr auto complex_squares =
    elementwise_kernels(ElementwiseKernel{square_complex<float>, {DType::c64}, 1, DType::c64},
                        ElementwiseKernel{square_complex<double>, {DType::c128}, 1, DType::c128});
struct Magnitude {
  float operator()(Complex64 z) const {
    const double a = z.real, b = z.imaginary;
    const bool is_endless = (__builtin_fabs(a) == HUGE_VAL) | (__builtin_fabs(b) == HUGE_VAL);
    return static_cast<float>(is_endless ? HUGE_VAL : ::sqrt(a * a + b * b));
  }
  double operator()(Complex128 z) const { return magnitude(z.real, z.imaginary); }
};
// z / |z|, with NumPy's results for zero and infinities.
struct ComplexSign {
  Complex128 operator()(Complex128 z) const {
    const double size = magnitude(z.real, z.imaginary);
    if (size != size) return {size, size};
    if (size == 0) return {0, 0};
    if (z.real - z.real == 0 && z.imaginary - z.imaginary == 0) {
      // A magnitude that overflows or is subnormal would lose digits.
      const double factor = size < 0x1p-1000 ? 0x1p200 : 0.5;
      const double scaled = magnitude(z.real * factor, z.imaginary * factor);
      return {z.real * factor / scaled, z.imaginary * factor / scaled};
    }
    const bool real = z.real - z.real != 0, imaginary = z.imaginary - z.imaginary != 0;
    if (real && imaginary) return {__builtin_nan(""), __builtin_nan("")};
    return {real ? __builtin_copysign(1.0, z.real) : 0, imaginary ? __builtin_copysign(1.0, z.imaginary) : 0};
  }
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

ELEMENTWISE(add, (binary<Add, FERRULE_NATIVE_FLOATS, FERRULE_INTEGERS>() + binary_on_parts<Add>()))
ELEMENTWISE(subtract, (binary<Subtract, FERRULE_NATIVE_FLOATS, FERRULE_INTEGERS>() + binary_on_parts<Subtract>()))
ELEMENTWISE(multiply, (binary<Multiply, FERRULE_NATIVE_FLOATS, FERRULE_INTEGERS>() + complex_products))
ELEMENTWISE(divide, (binary<Divide, FERRULE_NATIVE_FLOATS, FERRULE_COMPLEX>()))
ELEMENTWISE(floor_divide, (binary<FloorDivide, FERRULE_FLOATS, FERRULE_INTEGERS>()))
ELEMENTWISE(remainder, (binary<Remainder, FERRULE_FLOATS, FERRULE_INTEGERS>()))
ELEMENTWISE(fmod, (binary<Fmod, FERRULE_FLOATS>()))
ELEMENTWISE(copysign, (binary<Copysign, FERRULE_FLOATS>()))
ELEMENTWISE(nextafter, (binary<Nextafter, FERRULE_FLOATS>() + binary<NextHalf, Float16, BFloat16>()))
ELEMENTWISE(frexp,
            (unary<Mantissa, FERRULE_FLOATS>() +
             elementwise_kernels(ElementwiseKernel{run_unary<Exponent, int32_t, float>, {DType::f32}, 1, DType::i32, 1},
                                 ElementwiseKernel{
                                     run_unary<Exponent, int32_t, double>, {DType::f64}, 1, DType::i32, 1})))
ELEMENTWISE(hypot, (binary<Hypot, FERRULE_FLOATS>()))
ELEMENTWISE(negative, (unary<Negative, FERRULE_FLOATS, FERRULE_INTEGERS>() + unary_on_parts<Negative>()))
ELEMENTWISE(positive, (unary<Positive, FERRULE_FLOATS, FERRULE_INTEGERS, bool>() + unary_on_parts<Positive>()))
ELEMENTWISE(square, (unary<Square, FERRULE_FLOATS, FERRULE_INTEGERS>() + complex_squares))
ELEMENTWISE(reciprocal, (unary<Reciprocal, FERRULE_FLOATS, FERRULE_COMPLEX>()))
ELEMENTWISE(abs, (unary<Abs, FERRULE_FLOATS, FERRULE_INTEGERS>() + unary_to_real<Magnitude>()))
ELEMENTWISE(sign, (unary<Sign, FERRULE_FLOATS, FERRULE_INTEGERS>() + unary<InDouble<ComplexSign>, FERRULE_COMPLEX>()))

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
