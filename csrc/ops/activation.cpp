// Activation functions.
#include <limits>

#include "ops/rules.h"

namespace ferrule::ops {
namespace {

// x, or the lowest finite number in place of -inf, whose product with 0 is NaN.
Value at_least_lowest(Builder& b, Value x) {
  const bool is_double = b.type(x).dtype == DType::float64;
  const double lowest = is_double ? std::numeric_limits<double>::lowest() : std::numeric_limits<float>::lowest();
  return b.maximum(x, b.scalar_like(lowest, x));
}

}  // namespace

OP(sigmoid)
    .doc("1 / (1 + exp(-x)).")
    .example(
        ">>> fe.sigmoid(fe.asarray([-fe.inf, 0.0, fe.inf])).tolist()\n"
        "[0.0, 0.5, 1.0]")
    .elementwise()
    .input("x", real_floating)
    .result(same_shape_and_dtype);

OP(silu)
    .doc("x * sigmoid(x), elementwise.")
    .example(
        ">>> fe.silu(fe.asarray([-fe.inf, 0.0, fe.inf])).tolist()\n"
        "[-0.0, 0.0, inf]")
    .elementwise()
    .input("x", real_floating)
    .result(same_shape_and_dtype)
    .decompose([](Builder& b, Value x) {
      const Value finite = at_least_lowest(b, x);
      return b.multiply(finite, b.sigmoid(x));
    });

OP(relu)
    .doc("max(x, 0), elementwise.")
    .example(
        ">>> fe.relu(fe.asarray([-1.5, 2.0])).tolist()\n"
        "[0.0, 2.0]")
    .elementwise()
    .input("x", real_numeric)
    .result(same_shape_and_dtype)
    .decompose([](Builder& b, Value x) { return b.maximum(x, b.scalar_like(0, x)); });

OP(gelu)
    .doc("x times the normal distribution function of x (Hendrycks & Gimpel 2016).")
    .example(
        ">>> fe.gelu(fe.asarray([-fe.inf, 0.0, fe.inf])).tolist()\n"
        "[-0.0, 0.0, inf]\n"
        ">>> fe.gelu(fe.asarray([0.0, 10.0]), approximate=\"tanh\").tolist()\n"
        "[0.0, 10.0]")
    .elementwise()
    .input("x", real_floating)
    .choice_attribute("approximate", "none", "none|tanh")
    .about("'none' computes the distribution function by erf, 'tanh' approximates it.")
    .result(same_shape_and_dtype)
    .decompose([](Builder& b, const Call& c) {
      const Value x = at_least_lowest(b, c.input(0)), half = b.scalar_like(0.5, x), one = b.scalar_like(1, x);
      if (c.attribute().string("approximate") == "none")
        return b.multiply(b.multiply(half, x),
                          b.add(one, b.erf(b.multiply(x, b.scalar_like(0.70710678118654752440, x)))));
      const Value cube = b.multiply(x, b.multiply(x, x));
      const Value inner =
          b.multiply(b.scalar_like(0.79788456080286535588, x), b.add(x, b.multiply(b.scalar_like(0.044715, x), cube)));
      return b.multiply(b.multiply(half, x), b.add(one, b.tanh(inner)));
    });

}  // namespace ferrule::ops
