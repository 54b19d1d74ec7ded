// Complex numbers as they are stored: the real part, then the imaginary part.
#pragma once

#include "elementwise.h"
#include "element_types.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// A product that is rounded before it is added. GCC 12 makes vectors of a * b + c and a * b - c in turn one instruction
// that rounds once, even with -ffp-contract=off.
template <class T>
constexpr T rounded(T product) {
#if defined(__has_builtin)
#if __has_builtin(__builtin_assoc_barrier)
  if (!__builtin_is_constant_evaluated()) return __builtin_assoc_barrier(product);
#endif
#endif
  return product;
}

template <class T>
struct Complex {
  using Part = T;
  T real, imaginary;

  Complex() = default;
  constexpr Complex(T a, T b = 0) : real(a), imaginary(b) {}
  template <class U>
  constexpr explicit Complex(const Complex<U>& z)
      : real(static_cast<T>(z.real)), imaginary(static_cast<T>(z.imaginary)) {}

  friend constexpr bool operator==(const Complex& a, const Complex& b) {
    return (a.real == b.real) & (a.imaginary == b.imaginary);
  }
  friend constexpr Complex operator+(const Complex& a, const Complex& b) {
    return {a.real + b.real, a.imaginary + b.imaginary};
  }
  friend constexpr Complex operator-(const Complex& a, const Complex& b) {
    return {a.real - b.real, a.imaginary - b.imaginary};
  }
  friend constexpr Complex operator*(const Complex& a, const Complex& b) {
    return {rounded(a.real * b.real) - rounded(a.imaginary * b.imaginary),
            rounded(a.real * b.imaginary) + rounded(a.imaginary * b.real)};
  }
  // R. L. Smith, Algorithm 116: Complex division (1962), with NumPy's results for a divisor of zero.
  friend constexpr Complex operator/(const Complex& a, const Complex& b) {
    const T real_size = size_of(b.real), imaginary_size = size_of(b.imaginary);
    if (real_size >= imaginary_size) {
      if (real_size == 0 && imaginary_size == 0) return {a.real / real_size, a.imaginary / real_size};
      const T ratio = b.imaginary / b.real, scale = T(1) / (b.real + rounded(b.imaginary * ratio));
      return {(a.real + rounded(a.imaginary * ratio)) * scale, (a.imaginary - rounded(a.real * ratio)) * scale};
    }
    const T ratio = b.real / b.imaginary, scale = T(1) / (b.imaginary + rounded(b.real * ratio));
    return {(rounded(a.real * ratio) + a.imaginary) * scale, (rounded(a.imaginary * ratio) - a.real) * scale};
  }
  static constexpr T size_of(T part) { return static_cast<T>(__builtin_fabs(part)); }
};
using Complex64 = Complex<float>;
using Complex128 = Complex<double>;
template <>
constexpr DType dtype_of<Complex64> = DType::c64;
template <>
constexpr DType dtype_of<Complex128> = DType::c128;

template <class T>
constexpr bool is_complex = __is_same(T, Complex64) || __is_same(T, Complex128);
template <class T>
constexpr bool is_float<Complex<T>> = false;

#define FERRULE_COMPLEX Complex64, Complex128
constexpr DTypes complex_dtypes = dtypes_of(FE_CLASS_COMPLEX);

// Like with_type, for complex dtypes.
template <class F>
void with_complex_type(DType dtype, F f) {
  if (dtype == DType::c64) f(Complex64{});
  if (dtype == DType::c128) f(Complex128{});
}

// An op that treats both parts alike: its elementwise function for real numbers, with twice the count.
template <ElementwiseFunction f>
void run_on_parts(const void* const* in, void* out, size_t count, const void* attributes) {
  f(in, out, 2 * count, attributes);
}
template <class F>
constexpr auto unary_on_parts() {
  return elementwise_kernels(
      ElementwiseKernel{run_on_parts<run_unary<F, float, float>>, {DType::c64}, 1, DType::c64},
      ElementwiseKernel{run_on_parts<run_unary<F, double, double>>, {DType::c128}, 1, DType::c128});
}
template <class F>
constexpr auto binary_on_parts() {
  return elementwise_kernels(
      ElementwiseKernel{run_on_parts<run_binary<F, float, float>>, {DType::c64, DType::c64}, 2, DType::c64},
      ElementwiseKernel{run_on_parts<run_binary<F, double, double>>, {DType::c128, DType::c128}, 2, DType::c128});
}

// The magnitude of a + b i in double precision, which the compiler can make vectors of. Squares neither overflow nor
// vanish.
HWY_INLINE double magnitude(double a, double b) {
  a = __builtin_fabs(a);
  b = __builtin_fabs(b);
  const double size = a > b ? a : b;
  const double scale = size > 0x1p500 ? 0x1p-600 : size < 0x1p-500 ? 0x1p600 : 1.0;
  const double back = size > 0x1p500 ? 0x1p600 : size < 0x1p-500 ? 0x1p-600 : 1.0;
  a *= scale;
  b *= scale;
  const double found = ::sqrt(rounded(a * a) + rounded(b * b)) * back;
  const bool is_endless = (a == HUGE_VAL) | (b == HUGE_VAL);  // also beside NaN
  return is_endless ? HUGE_VAL : found;
}

// A function of complex numbers with a real result.
template <class F>
constexpr auto unary_to_real() {
  return elementwise_kernels(ElementwiseKernel{run_unary<F, float, Complex64>, {DType::c64}, 1, DType::f32},
                             ElementwiseKernel{run_unary<F, double, Complex128>, {DType::c128}, 1, DType::f64});
}

// A function of complex numbers that is computed in double precision, and for complex64 rounded once.
template <class F>
struct InDouble {
  template <class... T>
  Complex64 operator()(Complex64 first, T... others) const {
    return Complex64(F{}(Complex128(first), Complex128(others)...));
  }
  template <class... T>
  Complex128 operator()(Complex128 first, T... others) const {
    return F{}(first, others...);
  }
};

template <class F>
constexpr auto in_double() {
  return unary<InDouble<F>, FERRULE_COMPLEX>();
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
