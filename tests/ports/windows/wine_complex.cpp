// The complex functions of Microsoft's C library that wine 8 does not have, for NumPy: with its types, which are
// structures of two numbers, and in which long double is double.
#include <complex>

// Passed in registers or by a pointer, depending on their size, as in C.
struct Single {
  float re, im;
};
struct Double {
  double re, im;
};
static std::complex<float> of(Single z) { return {z.re, z.im}; }
static std::complex<double> of(Double z) { return {z.re, z.im}; }
static Single back(std::complex<float> z) { return {z.real(), z.imag()}; }
static Double back(std::complex<double> z) { return {z.real(), z.imag()}; }

#define PART(name, function)                                 \
  float wine_##name##f(Single z) { return function(of(z)); } \
  double wine_##name(Double z) { return function(of(z)); }   \
  double wine_##name##l(Double z) { return function(of(z)); }
#define FUNCTION(name, function)                                    \
  Single wine_##name##f(Single z) { return back(function(of(z))); } \
  Double wine_##name(Double z) { return back(function(of(z))); }    \
  Double wine_##name##l(Double z) { return back(function(of(z))); }

extern "C" {
PART(creal, std::real)
PART(cimag, std::imag)
PART(cabs, std::abs)
PART(carg, std::arg)
FUNCTION(cexp, std::exp)
FUNCTION(clog, std::log)
FUNCTION(csqrt, std::sqrt)
FUNCTION(csin, std::sin)
FUNCTION(ccos, std::cos)
FUNCTION(ctan, std::tan)
FUNCTION(csinh, std::sinh)
FUNCTION(ccosh, std::cosh)
FUNCTION(ctanh, std::tanh)
FUNCTION(casin, std::asin)
FUNCTION(cacos, std::acos)
FUNCTION(catan, std::atan)
FUNCTION(casinh, std::asinh)
FUNCTION(cacosh, std::acosh)
FUNCTION(catanh, std::atanh)
Single wine_cpowf(Single x, Single y) { return back(std::pow(of(x), of(y))); }
Double wine_cpow(Double x, Double y) { return back(std::pow(of(x), of(y))); }
Double wine_cpowl(Double x, Double y) { return back(std::pow(of(x), of(y))); }
}
