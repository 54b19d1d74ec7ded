// gelu: x times the normal distribution function of x. float32 is computed in float64 lanes, in a form that does not
// cancel: x erfc(-x / sqrt 2) / 2, with log(erfc(z) e^(z^2) / t), t = 2 / (2 + z), as a polynomial (its coefficients:
// chebyfit of mpmath on [1/10, 1], error 4.4e-11; the form is that of Numerical Recipes' erfcc).
#include "blocks.h"
#include "op_attributes.h"
#include "vector_math.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

struct Exact {
  template <class D, class V>
  static HWY_INLINE V run(D d, V x) {
    const V z = hn::Min(hn::Set(d, 18.0), hn::Abs(hn::Mul(x, hn::Set(d, M_SQRT1_2))));
    const V t = hn::Div(hn::Set(d, 2.0), hn::Add(hn::Set(d, 2.0), z));
    const V p = math::polynomial(
        d, t, hn::Set(d, -0.21130459122649660557), 1.6889470944766301173, -5.9496051263308740692, 12.035944543731138737,
        -15.2750319036992864, 12.582855468083795922, -7.0050542227152428432, 2.9919508817231504578,
        -0.99429050667055102411, 0.057815350323200114326, -0.11846104023416853883, 0.087009105352783435062,
        0.37472515263865429428, 1.000012157799687836, -1.2655123632968022317);
    const V tail = hn::Mul(hn::Mul(hn::Mul(hn::Set(d, 0.5), x), t), math::exp_wide(d, hn::NegMulAdd(z, z, p)));
    return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), tail, hn::Sub(x, tail));
  }
  static double run(double x) { return 0.5 * x * ::erfc(-x * M_SQRT1_2); }
};
// x (1 + tanh u) / 2 = x / (1 + e^-2u)
struct Approximate {
  template <class D, class V>
  static HWY_INLINE V run(D d, V x) {
    const V cubic = hn::MulAdd(hn::Mul(hn::Set(d, 0.044715), x), hn::Mul(x, x), x);
    const V e = math::exp_wide(d, hn::Mul(hn::Set(d, -2 * 0.79788456080286535588), cubic));
    return hn::Div(x, hn::Add(hn::Set(d, 1.0), e));
  }
  static double run(double x) { return x / (1 + ::exp(-2 * 0.79788456080286535588 * (x + 0.044715 * x * x * x))); }
};

template <class Form>
struct Single {
  template <class V>
  V operator()(Full<float> d, V x) const {
    const V y = math::wide(d, x, [](auto dd, auto v) { return Form::run(dd, v); });
    // x times a distribution function of 1 or 0; -inf times 0 is NaN, as in the formula.
    const V infinity = hn::Set(d, static_cast<float>(HUGE_VAL));
    const V ends = hn::IfThenElse(hn::Eq(x, infinity), x, y);
    return hn::IfThenElse(hn::Eq(x, hn::Neg(infinity)), hn::Set(d, static_cast<float>(NAN)), ends);
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
constexpr Block gelu_blocks[] = {{run_single, {DType::f32}, 1, DType::f32}, {run_double, {DType::f64}, 1, DType::f64}};

}  // namespace

ELEMENTWISE(gelu, (blocks(gelu_blocks[0], gelu_blocks[1])),
            .string_attributes = {offsetof(fe_gelu_attributes, approximate)})

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
