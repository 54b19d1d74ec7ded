// Exponentials, logarithms, powers and roots.
#include <numbers>

#include "complex_math.h"
#include "elementwise.h"
#include "vector_math.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

struct Exp {
  template <class D, class V>
  V operator()(D d, V x) const {
    return math::exp(d, x);
  }
};
struct Log {
  template <class D, class V>
  V operator()(D d, V x) const {
    return math::log(d, x);
  }
};
struct Exp2 {
  template <class V>
  V operator()(Full<float> d, V x) const {
    return math::wide(d, x,
                      [](auto dd, auto v) { return math::exp_wide(dd, hn::Mul(v, hn::Set(dd, std::numbers::ln2))); });
  }
};
struct Log2 {
  template <class V>
  V operator()(Full<float> d, V x) const {
    const V y = math::wide(
        d, x, [](auto dd, auto v) { return hn::Mul(math::log_wide(dd, v), hn::Set(dd, std::numbers::log2e)); });
    return math::logarithm(d, x, y);
  }
};
struct Log10 {
  template <class V>
  V operator()(Full<float> d, V x) const {
    const V y = math::wide(
        d, x, [](auto dd, auto v) { return hn::Mul(math::log_wide(dd, v), hn::Set(dd, std::numbers::log10e)); });
    return math::logarithm(d, x, y);
  }
};
struct Expm1 {
  template <class V>
  V operator()(Full<float> d, V x) const {
    const V y = math::wide(d, x, [](auto dd, auto v) { return math::expm1_wide(dd, v); });
    return hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(d, 0x1p-40f)), x, y);
  }
};
struct Log1p {
  template <class V>
  V operator()(Full<float> d, V x) const {
    const V y = math::wide(d, x, [](auto dd, auto v) { return math::log1p_wide(dd, v); });
    const V known = math::logarithm(d, hn::Add(x, hn::Set(d, 1.0f)), y);
    return hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(d, 0x1p-40f)), x, known);
  }
};
struct Pow {
  template <class D, class V>
  V operator()(D d, V x, V y) const {
    return math::pow(d, x, y);
  }
};

// The powers that programs write most, for blocks whose exponents are all equal.
struct Square {
  float operator()(float x) const { return x * x; }
  double operator()(double x) const { return x * x; }
  template <class T>
  T operator()(T x) const {
    return static_cast<T>(static_cast<uint64_t>(x) * static_cast<uint64_t>(x));
  }
};
struct Cube {
  template <class V>
  V operator()(Full<float> d, V x) const {
    return math::cube(d, x);
  }
  template <class T>
  T operator()(T x) const {
    return static_cast<T>(static_cast<uint64_t>(x) * static_cast<uint64_t>(x) * static_cast<uint64_t>(x));
  }
};
struct Reciprocal {
  template <class D, class V>
  V operator()(D d, V x) const {
    return hn::Div(hn::Set(d, 1), x);
  }
};
struct RootByPower {
  template <class D, class V>
  V operator()(D d, V x) const {
    return math::root_by_power(d, x);
  }
};
template <class T>
bool are_all_equal(const T* x, size_t count) {
  return count < 2 || memcmp(x, x + 1, (count - 1) * sizeof(T)) == 0;
}

struct DoubleExp2 {
  double operator()(double x) const { return ::exp2(x); }
};
struct DoubleLog2 {
  double operator()(double x) const { return ::log2(x); }
};
struct DoubleLog10 {
  double operator()(double x) const { return ::log10(x); }
};
struct DoubleExpm1 {
  double operator()(double x) const { return ::expm1(x); }
};
struct DoubleLog1p {
  double operator()(double x) const { return ::log1p(x); }
};

// Integer powers are computed by squaring, modulo 2^width.
struct ScalarPow {
  template <class T>
  T operator()(T a, T b) const {
    uint64_t base = static_cast<uint64_t>(a), result = 1;
    for (uint64_t n = static_cast<uint64_t>(b); n != 0; n >>= 1, base *= base)
      if (n & 1) result *= base;
    return static_cast<T>(result);
  }
};

// x^y with the same bits for a block of equal exponents as for any other.
template <class T>
void run_power(const void* const* in, void* out, size_t count, const void* attributes) {
  const T* exponents = static_cast<const T*>(in[1]);
  const T first = count > 0 ? exponents[0] : T(0);
  constexpr bool is_real = T(0.5) != 0;
  const bool is_common = first == T(2) || (first == T(3) && sizeof(T) != sizeof(double)) ||
                         (is_real && (first == T(-1) || first == T(0.5)));
  if (!is_common || !are_all_equal(exponents, count)) {
    if constexpr (is_real)
      return run_vector_binary<Pow, T>(in, out, count, attributes);
    else
      return run_binary<ScalarPow, T, T>(in, out, count, attributes);
  }
  if (first == T(2)) return run_unary<Square, T, T>(in, out, count, attributes);
  if constexpr (!is_real) return run_unary<Cube, T, T>(in, out, count, attributes);
  if constexpr (sizeof(T) == sizeof(float) && is_real)
    if (first == T(3)) return run_vector_unary<Cube, T>(in, out, count, attributes);
  if constexpr (is_real) {
    if (first == T(-1)) return run_vector_unary<Reciprocal, T>(in, out, count, attributes);
    run_vector_unary<RootByPower, T>(in, out, count, attributes);
  }
}
template <class... T>
constexpr auto powers() {
  return elementwise_kernels(ElementwiseKernel{run_power<T>, {dtype_of<T>, dtype_of<T>}, 2, dtype_of<T>}...);
}
// A negative power of an integer is an error, as in NumPy.
template <class T>
const char* refuse_negative_powers(const void* const* in, size_t count) {
  const T* exponents = static_cast<const T*>(in[1]);
  T signs = 0;
  for (size_t i = 0; i < count; ++i) signs = static_cast<T>(signs | exponents[i]);
  if (signs >= T(0)) return nullptr;
  switch (sizeof(T)) {
    case 1:
      return "pow: int8 to a negative integer power has no integer result";
    case 2:
      return "pow: int16 to a negative integer power has no integer result";
    case 4:
      return "pow: int32 to a negative integer power has no integer result";
    default:
      return "pow: int64 to a negative integer power has no integer result";
  }
}
template <class... T>
constexpr auto signed_powers() {
  return elementwise_kernels(
      ElementwiseKernel{run_power<T>, {dtype_of<T>, dtype_of<T>}, 2, dtype_of<T>, 0, refuse_negative_powers<T>}...);
}

struct Logaddexp {
  float operator()(float a, float b) const { return static_cast<float>((*this)(double{a}, double{b})); }
  double operator()(double a, double b) const {
    if (a == b) return a + std::numbers::ln2;
    const double difference = a - b;
    return difference > 0    ? a + ::log1p(::exp(-difference))
           : difference <= 0 ? b + ::log1p(::exp(difference))
                             : difference;
  }
};

struct Sqrt {
  template <class D, class V>
  V operator()(D, V x) const {
    return hn::Sqrt(x);
  }
};
struct Rsqrt {
  template <class D, class V>
  V operator()(D d, V x) const {
    return hn::Div(hn::Set(d, hn::TFromD<D>(1)), hn::Sqrt(x));
  }
};

}  // namespace

ELEMENTWISE(exp, (vector_unary<Exp, FERRULE_FLOATS>() + in_double<complex_math::Exp>()))
ELEMENTWISE(log, (vector_unary<Log, FERRULE_FLOATS>() + in_double<complex_math::Log>()))
ELEMENTWISE(exp2, (vector_unary<Exp2, float>() + unary<DoubleExp2, double>()))
ELEMENTWISE(log2, (vector_unary<Log2, float>() + unary<DoubleLog2, double>() + in_double<complex_math::Log2>()))
ELEMENTWISE(log10, (vector_unary<Log10, float>() + unary<DoubleLog10, double>() + in_double<complex_math::Log10>()))
ELEMENTWISE(expm1, (vector_unary<Expm1, float>() + unary<DoubleExpm1, double>() + in_double<complex_math::Expm1>()))
ELEMENTWISE(log1p, (vector_unary<Log1p, float>() + unary<DoubleLog1p, double>() + in_double<complex_math::Log1p>()))
ELEMENTWISE(pow, (powers<FERRULE_FLOATS, uint8_t, uint16_t, uint32_t, uint64_t>() +
                  signed_powers<int8_t, int16_t, int32_t, int64_t>() +
                  binary<InDouble<complex_math::Pow>, FERRULE_COMPLEX>()))
ELEMENTWISE(logaddexp, (binary<Logaddexp, FERRULE_FLOATS>()))
ELEMENTWISE(sqrt, (vector_unary<Sqrt, FERRULE_FLOATS>() + in_double<complex_math::Sqrt>()))
ELEMENTWISE(rsqrt, (vector_unary<Rsqrt, FERRULE_FLOATS>()))

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
