// Reductions. An empty `axis` means all axes.
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

}  // namespace

OP(sum)
    .doc("Sum over axes; integers in 64 bits.")
    .widened("x", boolean_or_numeric)
    .axes_attribute("axis")
    .boolean_attribute("keepdims", false)
    .takes_epilogue()
    .result(reduced);

OP(prod)
    .doc("Product over axes; integers in 64 bits.")
    .widened("x", boolean_or_numeric)
    .axes_attribute("axis")
    .boolean_attribute("keepdims", false)
    .result(reduced);

OP(max)
    .doc("Greatest element over axes; NaN if any is NaN.")
    .input("x", real)
    .axes_attribute("axis")
    .boolean_attribute("keepdims", false)
    .takes_epilogue()
    .result(reduced_nonempty);

OP(min)
    .doc("Least element over axes; NaN if any is NaN.")
    .input("x", real)
    .axes_attribute("axis")
    .boolean_attribute("keepdims", false)
    .takes_epilogue()
    .result(reduced_nonempty);

OP(all)
    .doc("Whether all elements hold.")
    .input("x", boolean)
    .axes_attribute("axis")
    .boolean_attribute("keepdims", false)
    .result(reduced_to_bool);

OP(any)
    .doc("Whether any element holds.")
    .input("x", boolean)
    .axes_attribute("axis")
    .boolean_attribute("keepdims", false)
    .result(reduced_to_bool);

OP(argmax)
    .doc("Index of the greatest element along an axis, the first of equals; NaN counts as greatest.")
    .input("x", real_numeric)
    .integer_attribute("axis", -1)
    .boolean_attribute("keepdims", false)
    .result(index_along_axis);

OP(argmin)
    .doc("Index of the least element along an axis, the first of equals; NaN counts as least.")
    .input("x", real_numeric)
    .integer_attribute("axis", -1)
    .boolean_attribute("keepdims", false)
    .result(index_along_axis);

OP(mean)
    .doc("Arithmetic mean over axes.")
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
        "not positive.")
    .input("x", real_floating)
    .axes_attribute("axis")
    .real_attribute("correction", 0)
    .boolean_attribute("keepdims", false)
    .result(reduced)
    .decompose([](Builder& b, const Call& c) {
      const std::vector<int64_t> axes = c.attribute().integers("axis");
      const Value x = c.input(0), mean = b.apply("mean", {x}, {{"axis", axes}, {"keepdims", true}});
      const Value distance = b.subtract(x, mean);
      const Value sum = b.apply("sum", {b.multiply(distance, distance)},
                                {{"axis", axes}, {"keepdims", c.attribute().boolean("keepdims")}});
      const double count = static_cast<double>(reduced_count(b, c)) - c.attribute().real("correction");
      return b.divide(sum, b.scalar_like(count > 0 ? count : std::numeric_limits<double>::quiet_NaN(), sum));
    });

}  // namespace ferrule::ops
