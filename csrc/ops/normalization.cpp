// Softmax, and normalization of rows.
#include <cmath>

#include "ops/rules.h"

namespace ferrule::ops {
namespace {

void along_axis(Inference& i) {
  i.axis("axis", i.input(0).shape.rank());
  i.output(i.input(0));
}

void normalized_rows(Inference& i) {
  const Shape& shape = i.input(0).shape;
  if (shape.rank() == 0) i.fail("{} has no axis to normalize", i.call());
  for (std::size_t k = 1; k < i.input_count(); ++k)
    if (i.input(k).shape != Shape{shape[shape.rank() - 1]})
      i.fail("{} has shape {}, but the last axis of {} has {} elements", i.row().inputs[k].name,
             to_string(i.input(k).shape), to_string(i.input(0)), shape[shape.rank() - 1]);
  i.output(i.input(0));
}

// The root of the mean of squares over the last axis, plus `epsilon`, which has no weight where the mean is very large.
Value root_of_mean_square(Builder& b, Value x, Value epsilon, bool has_epsilon) {
  const Shape shape = b.type(x).shape;
  const Value root = b.apply("sum_of_squares", {x},
                             {{"axis", std::vector<int64_t>{-1}},
                              {"keepdims", true},
                              {"divisor", static_cast<double>(shape[shape.rank() - 1])},
                              {"root", true}});
  if (!has_epsilon) return root;
  const Value is_large =
      b.apply("greater", {root, b.scalar_like(std::ldexp(1, b.type(x).dtype == DType::float64 ? 500 : 60), x)});
  return b.where(is_large, root, b.sqrt(b.add(b.multiply(root, root), epsilon)));
}

}  // namespace

OP(softmax)
    .doc("exp(x) / sum(exp(x)) along an axis.")
    .example(
        ">>> fe.softmax(fe.asarray([[0.0, 0.0], [0.0, -fe.inf]])).tolist()\n"
        "[[0.5, 0.5], [1.0, 0.0]]")
    .input("x", real_floating)
    .integer_attribute("axis", -1)
    .about("The axis along which the results sum up to 1.")
    .raises("x has no such axis.")
    .result(along_axis)
    .decompose([](Builder& b, const Call& c) {
      const Value x = c.input(0);
      const int64_t axis = c.attribute().integer("axis");
      const Value e = b.exp(b.subtract(x, b.reduce_keeping("max", x, {axis})));
      return b.divide(e, b.reduce_keeping("sum", e, {axis}));
    });

OP(log_softmax)
    .doc("log(softmax(x)) along an axis.")
    .example(
        ">>> fe.log_softmax(fe.asarray([0.0, -fe.inf])).tolist()\n"
        "[0.0, -inf]")
    .input("x", real_floating)
    .integer_attribute("axis", -1)
    .about("The axis along which the exponentials of the results sum up to 1.")
    .raises("x has no such axis.")
    .result(along_axis)
    .decompose([](Builder& b, const Call& c) {
      const Value x = c.input(0);
      const int64_t axis = c.attribute().integer("axis");
      const Value shifted = b.subtract(x, b.reduce_keeping("max", x, {axis}));
      return b.subtract(shifted, b.log(b.reduce_keeping("sum", b.exp(shifted), {axis})));
    });

OP(layer_norm)
    .doc("(x - mean) / sqrt(variance + epsilon) * weight + bias over the last axis (Ba, Kiros & Hinton 2016).")
    .example(
        ">>> fe.layer_norm(fe.asarray([[1.0, 3.0], [5.0, 5.0]]), epsilon=0.0)[0].tolist()\n"
        "[-1.0, 1.0]")
    .promoted("x", real_floating)
    .optional("weight", real_floating, true)
    .about("Factors, one for each element of the last axis.")
    .optional("bias", real_floating, true)
    .about("Terms, one for each element of the last axis; needs `weight`.")
    .real_attribute("epsilon", 1e-5)
    .about("Added to the variance, so that equal elements are not divided by zero.")
    .raises("x has no axis, or the shape of `weight` or `bias` is not that of the last one.")
    .result(normalized_rows)
    .decompose([](Builder& b, const Call& c) {
      const Value x = c.input(0);
      const Value mean = b.apply("mean", {x}, {{"axis", std::vector<int64_t>{-1}}, {"keepdims", true}});
      const Value half = half_of_large(b, mean);
      const Value distance = b.subtract(b.multiply(x, half), b.multiply(mean, half));
      const double epsilon = c.attribute().real("epsilon");
      const Value smaller = b.multiply(b.scalar_like(epsilon, x), b.multiply(half, half));
      Value y = b.divide(distance, root_of_mean_square(b, distance, smaller, epsilon != 0));
      if (c.has_input(1)) y = b.multiply(y, c.input(1));
      if (c.has_input(2)) y = b.add(y, c.input(2));
      return y;
    });

OP(rms_norm)
    .doc("x / sqrt(mean(x ** 2) + epsilon) * weight over the last axis (Zhang & Sennrich 2019).")
    .example(
        ">>> fe.rms_norm(fe.asarray([3.0, 3.0]), fe.asarray([1.0, 2.0]), epsilon=0.0).tolist()\n"
        "[1.0, 2.0]")
    .promoted("x", real_floating)
    .optional("weight", real_floating, true)
    .about("Factors, one for each element of the last axis.")
    .real_attribute("epsilon", 1e-5)
    .about("Added to the mean of the squares, so that zeros are not divided by zero.")
    .raises("x has no axis, or the shape of `weight` is not that of the last one.")
    .result(normalized_rows)
    .decompose([](Builder& b, const Call& c) {
      const Value x = c.input(0);
      const double epsilon = c.attribute().real("epsilon");
      const Value y = b.divide(x, root_of_mean_square(b, x, b.scalar_like(epsilon, x), epsilon != 0));
      return c.has_input(1) ? b.multiply(y, c.input(1)) : y;
    });

}  // namespace ferrule::ops
