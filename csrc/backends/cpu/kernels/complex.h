// Complex numbers as they are stored: the real part, then the imaginary part.
#pragma once

#include "simd.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

template <class T>
struct Complex {
  using Part = T;
  T real, imaginary;
  friend bool operator==(const Complex& a, const Complex& b) {
    return (a.real == b.real) & (a.imaginary == b.imaginary);
  }
};
using Complex64 = Complex<float>;
using Complex128 = Complex<double>;
template <>
constexpr DType dtype_of<Complex64> = DType::c64;
template <>
constexpr DType dtype_of<Complex128> = DType::c128;

template <class T>
constexpr bool is_complex = __is_same(T, Complex64) || __is_same(T, Complex128);

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
