// Activation functions of neural networks.
#include <ferrule/ops.h>

#include <numbers>

#include "elementwise.h"
#include "vector_math.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

struct Sigmoid {
  template <class D, class V>
  V operator()(D d, V x) const {
    return math::sigmoid(d, x);
  }
};
struct Silu {
  template <class D, class V>
  V operator()(D d, V x) const {
    return math::silu(d, x);
  }
};
struct Relu {
  template <class T>
  T operator()(T x) const {
    return x > T(0) || x != x ? x : T(0);
  }
};

// ---- gelu ----
// x times the normal distribution function of x, as max(x, 0) - a M(a) e^(-a^2 / 2), where a = |x| and M is half of
// Mills' ratio. Nothing cancels in this form except what the definition itself cancels.

// Below this value, and for NaN, gelu uses the formula of more digits in float64 lanes.
constexpr float rare = -5.0f;
// Below this value, both forms are less than half of the least float64, and rounded to -0. The formulas have -inf * 0.
constexpr double vanishes = -40.0;

// -a^2 / 2 = n ln 2 + r. The square is exact where it meets n ln 2: by one FMA, or by splitting a.
template <class V>
HWY_INLINE math::Exponential<V> exp_of_half_square(Full<float> d, V a, V minus_half_square) {
  const V zero = hn::Set(d, 0x1.8p23f);
  const V shifted = hn::MulAdd(minus_half_square, hn::Set(d, 1.44269504088896341f), zero);
  const V n = hn::Sub(shifted, zero);
  const V high = hn::Mul(n, hn::Set(d, -0.693359375f)), half = hn::Set(d, -0.5f);
#if HWY_MAX_BYTES >= 32
  V r = hn::MulAdd(hn::Mul(a, half), a, high);
#else
  const V front = hn::And(a, hn::BitCast(d, hn::Set(hn::RebindToUnsigned<Full<float>>(), 0xfffff000u)));
  V r = hn::Add(hn::Mul(hn::Mul(front, half), front), high);
  r = hn::Add(r, hn::Mul(hn::Mul(hn::Sub(a, front), half), hn::Add(a, front)));
#endif
  r = hn::MulAdd(n, hn::Set(d, 2.12194440e-4f), r);
  return {shifted, hn::MulAdd(math::exp_curvature(d, r), hn::Mul(r, r), r)};
}

struct Exact {
  // Error: at most 4.9 ULP (5.5 without FMA), near x = -3.5, where about ten roundings add up.
  // CpuBackend.GeluIsAccurateInBothTails asserts 5.5. M(a) = e^(a^2 / 2) erfc(a / sqrt 2) / 2 is a minimax quotient
  // on [0, 5] with an error of 0.8 * 2^-24; beyond 5, the tail is too small to change x.
  template <class V>
  static HWY_INLINE V run(Full<float> d, V x) {
    const V a = at_most(d, 6.0f, hn::Abs(x));
    const V square = hn::Mul(hn::Mul(a, hn::Set(d, -0.5f)), a);  // -a^2 / 2; the coefficients are scaled to it
    const auto line = [&](float c0, float c1) HWY_ATTR { return hn::MulAdd(a, hn::Set(d, c1), hn::Set(d, c0)); };
    const auto e = exp_of_half_square(d, a, square);
    const V numerator = math::polynomial(d, a, hn::Set(d, 0.0128010297f), 0.100632861f, 0.32722643f, 0.5f);
    const V denominator =
        hn::MulAdd(a, hn::MulAdd(square, line(-2 * 0.251563698f, -2 * 0.0321150608f), line(1.45233572f, 0.860080242f)),
                   hn::Set(d, 1.0f));
    const V ratio = hn::Div(numerator, denominator);
    const V tail = e.times(hn::MulAdd(ratio, e.fraction, ratio));
    const V y = hn::NegMulAdd(tail, a, at_least(d, -0.0f, x));
    const auto common = hn::Ge(x, hn::Set(d, rare));
    return HWY_LIKELY(hn::AllTrue(d, common)) ? y : hn::IfThenElse(common, y, run_wide(d, x));
  }
  // x erfc(-x / sqrt 2) / 2, where log(erfc(z) e^(z^2) / t), t = 2 / (2 + z), is a polynomial. Coefficients: chebyfit
  // of mpmath on [1/10, 1], error 4.4e-11. The form is that of erfcc in Numerical Recipes.
  template <class V>
  static HWY_INLINE V run_wide(Full<float> d, V x) {
    return math::wide(d, math::at_least_lowest(d, x), [](auto dd, auto v) HWY_ATTR {
      const auto z = at_most(dd, 18.0, hn::Mul(v, hn::Set(dd, -std::numbers::sqrt2 / 2)));
      const auto t = hn::Div(hn::Set(dd, 2.0), hn::Add(hn::Set(dd, 2.0), z));
      const auto p = math::polynomial(
          dd, t, hn::Set(dd, -0.21130459122649660557), 1.6889470944766301173, -5.9496051263308740692,
          12.035944543731138737, -15.2750319036992864, 12.582855468083795922, -7.0050542227152428432,
          2.9919508817231504578, -0.99429050667055102411, 0.057815350323200114326, -0.11846104023416853883,
          0.087009105352783435062, 0.37472515263865429428, 1.000012157799687836, -1.2655123632968022317);
      return hn::Mul(hn::Mul(hn::Mul(hn::Set(dd, 0.5), v), t), math::exp_wide(dd, hn::NegMulAdd(z, z, p)));
    });
  }
  // Rounding z costs hundreds of ULP in the tail, where the slope of log(erfc), -(2 z + 1 / z), is large; the result is
  // corrected for it.
  static double run(double x) {
    if (x < vanishes) return -0.0;
    constexpr double root = std::numbers::sqrt2 / 2, rest_of_root = -4.8336466567264565e-17;
    const double z = -x * root, whole = 0.5 * x * ::erfc(z);
    if (!(z > 1 && z < 30)) return whole;
    const double rest = ::fma(-x, root, -z) - x * rest_of_root;
    return whole - whole * ((2 * z + 1 / z) * rest);
  }
};
// x (1 + tanh u) / 2 = x / (1 + e^-2u)
struct Approximate {
  template <class V>
  static HWY_INLINE V run(Full<float> d, V x) {
    return math::wide(d, math::at_least_lowest(d, x), [](auto dd, auto v) {
      const auto cubic = hn::MulAdd(hn::Mul(hn::Set(dd, 0.044715), v), hn::Mul(v, v), v);
      const auto e = math::exp_wide(dd, hn::Mul(hn::Set(dd, -2 * 0.79788456080286535588), cubic));
      return hn::Div(v, hn::Add(hn::Set(dd, 1.0), e));
    });
  }
  static double run(double x) {
    if (x < vanishes) return -0.0;
    return x / (1 + ::exp(-2 * 0.79788456080286535588 * (x + 0.044715 * x * x * x)));
  }
};

template <class Form>
struct Single {
  template <class V>
  V operator()(Full<float> d, V x) const {
    return Form::run(d, x);
  }
};
template <class Form>
struct Double {
  double operator()(double x) const { return Form::run(x); }
};

bool approximates(const void* attributes) {
  const char* form = static_cast<const fe_gelu_attributes*>(attributes)->approximate;
  return form != nullptr && form[0] == 't';
}
void run_single(const void* const* in, void* out, size_t count, const void* attributes) {
  approximates(attributes) ? run_vector_unary<Single<Approximate>, float>(in, out, count, nullptr)
                           : run_vector_unary<Single<Exact>, float>(in, out, count, nullptr);
}
void run_double(const void* const* in, void* out, size_t count, const void* attributes) {
  approximates(attributes) ? run_unary<Double<Approximate>, double, double>(in, out, count, nullptr)
                           : run_unary<Double<Exact>, double, double>(in, out, count, nullptr);
}
constexpr ElementwiseKernel gelu_kernels[] = {{run_single, {DType::f32}, 1, DType::f32},
                                              {run_double, {DType::f64}, 1, DType::f64}};

}  // namespace

ELEMENTWISE(sigmoid, (vector_unary<Sigmoid, FERRULE_FLOATS>()))
ELEMENTWISE(silu, (vector_unary<Silu, FERRULE_FLOATS>()))
ELEMENTWISE(relu, (unary<Relu, FERRULE_FLOATS, FERRULE_INTEGERS>()))
ELEMENTWISE(gelu, (elementwise_kernels(gelu_kernels[0], gelu_kernels[1])),
            .string_attributes = {offsetof(fe_gelu_attributes, approximate)})

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
