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

OP(sigmoid).doc("1 / (1 + exp(-x)).").elementwise().input("x", real_floating).result(same_shape_and_dtype);

OP(silu)
    .doc("x * sigmoid(x), elementwise.")
    .elementwise()
    .input("x", real_floating)
    .result(same_shape_and_dtype)
    .decompose([](Builder& b, Value x) {
      const Value finite = at_least_lowest(b, x);
      return b.multiply(finite, b.sigmoid(x));
    });

OP(relu)
    .doc("max(x, 0), elementwise.")
    .elementwise()
    .input("x", real_numeric)
    .result(same_shape_and_dtype)
    .decompose([](Builder& b, Value x) { return b.maximum(x, b.scalar_like(0, x)); });

OP(gelu)
    .doc(
        "x times the normal distribution function of x (Hendrycks & Gimpel 2016); approximate is 'none' (erf) or "
        "'tanh'.")
    .elementwise()
    .input("x", real_floating)
    .choice_attribute("approximate", "none", "none|tanh")
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
