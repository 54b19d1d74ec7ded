// Reductions. An empty `axis` means all axes.
#include <cmath>
#include <limits>

#include "ops/rules.h"

namespace ferrule::ops {
namespace {

void index_along_axis(Inference& i) {
  const Shape& shape = i.input(0).shape;
  const int axis = i.axis("axis", shape.rank());
  if (shape[axis] == 0) i.fail("axis {} of {} is empty", axis, i.call());
  Shape out;
  for (int k = 0; k < shape.rank(); ++k) {
    if (k != axis) out.push_back(shape[k]);
    if (k == axis && i.attribute().boolean("keepdims")) out.push_back(1);
  }
  i.output({DType::int64, out});
}

// max and min have no identity: an empty axis is an error, as in the standard.
void reduced_nonempty(Inference& i) {
  reduced(i);
  for (int64_t axis : reduction_axes(i.attribute(), i.input(0).shape.rank()))
    if (i.input(0).shape[static_cast<int>(axis)] == 0) i.fail("axis {} of {} is empty", axis, i.call());
}

// The number of elements that each result is reduced from.
int64_t reduced_count(Builder& b, const Call& c) {
  const Shape shape = b.type(c.input(0)).shape;
  int64_t count = 1;
  for (int64_t axis : reduction_axes(c.attribute(), shape.rank())) count *= shape[static_cast<int>(axis)];
  return count;
}

// The powers of two by which numbers are multiplied so that sums of their squares neither overflow nor vanish, one for
// each result of a reduction over `axes`, which are kept. They depend on the number of the greatest magnitude.
Value factors_for_squares(Builder& b, Value x, const std::vector<int64_t>& axes) {
  const bool is_double = b.type(x).dtype == DType::float64;
  const double end = std::ldexp(1, is_double ? 400 : 50), factor = std::ldexp(1, is_double ? 700 : 90);
  const Value high = b.reduce_keeping("max", x, axes), low = b.reduce_keeping("min", x, axes);
  const Value greatest = b.maximum(high, b.negative(low));
  const Value grown =
      b.where(b.apply("less", {greatest, b.scalar_like(1 / end, x)}), b.scalar_like(factor, x), b.scalar_like(1, x));
  return b.where(b.apply("greater", {greatest, b.scalar_like(end, x)}), b.scalar_like(1 / factor, x), grown);
}

}  // namespace

OP(sum)
    .doc("Sum over axes; integers in 64 bits.")
    .by_hand()
    .widened("x", boolean_or_numeric)
    .axes_attribute("axis")
    .boolean_attribute("keepdims", false)
    .takes_epilogue()
    .result(reduced_and_widened);

OP(prod)
    .doc("Product over axes; integers in 64 bits.")
    .by_hand()
    .widened("x", boolean_or_numeric)
    .axes_attribute("axis")
    .boolean_attribute("keepdims", false)
    .result(reduced_and_widened);

OP(max)
    .doc("Greatest element over axes; NaN if any is NaN.")
    .by_hand()
    .input("x", real)
    .axes_attribute("axis")
    .boolean_attribute("keepdims", false)
    .takes_epilogue()
    .result(reduced_nonempty);

OP(min)
    .doc("Least element over axes; NaN if any is NaN.")
    .by_hand()
    .input("x", real)
    .axes_attribute("axis")
    .boolean_attribute("keepdims", false)
    .takes_epilogue()
    .result(reduced_nonempty);

OP(all)
    .doc("Whether all elements hold.")
    .by_hand()
    .input("x", boolean)
    .axes_attribute("axis")
    .boolean_attribute("keepdims", false)
    .result(reduced_to_bool);

OP(any)
    .doc("Whether any element holds.")
    .by_hand()
    .input("x", boolean)
    .axes_attribute("axis")
    .boolean_attribute("keepdims", false)
    .result(reduced_to_bool);

OP(argmax)
    .doc("Index of the greatest element along an axis, the first of equals; NaN counts as greatest.")
    .by_hand()
    .input("x", real_numeric)
    .integer_attribute("axis", -1)
    .boolean_attribute("keepdims", false)
    .result(index_along_axis);

OP(argmin)
    .doc("Index of the least element along an axis, the first of equals; NaN counts as least.")
    .by_hand()
    .input("x", real_numeric)
    .integer_attribute("axis", -1)
    .boolean_attribute("keepdims", false)
    .result(index_along_axis);

OP(mean)
    .doc("Arithmetic mean over axes.")
    .by_hand()
    .input("x", floating)
    .axes_attribute("axis")
    .boolean_attribute("keepdims", false)
    .result(reduced)
    .decompose([](Builder& b, const Call& c) {
      const Value sum = b.apply(
          "sum", c.inputs, {{"axis", c.attribute().integers("axis")}, {"keepdims", c.attribute().boolean("keepdims")}});
      return b.divide(sum, b.scalar_like(static_cast<double>(reduced_count(b, c)), sum));
    });

OP(var)
    .doc(
        "Variance over axes: the squared distances to the mean, over their number less `correction`; NaN where that is "
        "not positive. With `root` its root, the standard deviation, which is in range where the variance is not.")
    .by_hand()
    .input("x", real_floating)
    .axes_attribute("axis")
    .real_attribute("correction", 0)
    .boolean_attribute("keepdims", false)
    .boolean_attribute("root", false)
    .since(2)
    .result(reduced)
    .decompose([](Builder& b, const Call& c) {
      const std::vector<int64_t> axes = c.attribute().integers("axis");
      const bool is_root = c.attribute().boolean("root");
      const Value x = c.input(0), mean = b.apply("mean", {x}, {{"axis", axes}, {"keepdims", true}});
      const Value half = is_root ? half_of_large(b, mean) : mean;
      const Value distance = is_root ? b.subtract(b.multiply(x, half), b.multiply(mean, half)) : b.subtract(x, mean);
      const double count = static_cast<double>(reduced_count(b, c)) - c.attribute().real("correction");
      const Value spread = b.apply("sum_of_squares", {distance},
                                   {{"axis", axes},
                                    {"keepdims", c.attribute().boolean("keepdims")},
                                    {"divisor", count > 0 ? count : 1.0},
                                    {"root", is_root}});
      if (!(count > 0)) return b.multiply(spread, b.scalar_like(std::numeric_limits<double>::quiet_NaN(), x));
      return is_root ? b.divide(spread, b.reshape(half, b.type(spread).shape)) : spread;
    });

OP(sum_of_squares)
    .doc(
        "The sum of squares over axes, divided by `divisor`; with `root` the root of that. It is right wherever the "
        "result is in range, even if the squares or their sum are not.")
    .by_hand()
    .input("x", real_floating)
    .axes_attribute("axis")
    .boolean_attribute("keepdims", false)
    .real_attribute("divisor", 1)
    .boolean_attribute("root", false)
    .result(reduced)
    .decompose([](Builder& b, const Call& c) {
      const std::vector<int64_t> axes = c.attribute().integers("axis");
      const bool is_empty = reduced_count(b, c) == 0;
      const Value x = c.input(0);
      const Value factors = is_empty ? b.scalar_like(1, x) : factors_for_squares(b, x, axes);
      const Value scaled = b.multiply(x, factors);
      const Value sum = b.apply("sum", {b.multiply(scaled, scaled)},
                                {{"axis", axes}, {"keepdims", c.attribute().boolean("keepdims")}});
      const Value mean = b.divide(sum, b.scalar_like(c.attribute().real("divisor"), x));
      const Value result = c.attribute().boolean("root") ? b.sqrt(mean) : mean;
      if (is_empty) return result;
      const Value factor = b.reshape(factors, b.type(sum).shape);
      const Value divided = b.divide(result, factor);
      return c.attribute().boolean("root") ? divided : b.divide(divided, factor);
    });

}  // namespace ferrule::ops
