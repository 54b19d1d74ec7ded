#include "ops/rules.h"

#include <algorithm>
#include <numeric>

namespace ferrule::ops {
namespace {

Shape broadcast_of_all(const Inference& inference) {
  Shape shape = inference.input(0).shape;
  for (std::size_t i = 1; i < inference.input_count(); ++i)
    shape = broadcast(inference.row().name, shape, inference.input(i).shape);
  return shape;
}

Shape reduced_shape(Inference& inference) {
  const Shape& shape = inference.input(0).shape;
  inference.axes("axis", shape.rank());
  const std::vector<int64_t> axes = reduction_axes(inference.attribute(), shape.rank());
  const bool keep = inference.attribute().boolean("keepdims");
  Shape out;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const bool gone = std::find(axes.begin(), axes.end(), axis) != axes.end();
    if (!gone) out.push_back(shape[axis]);
    if (gone && keep) out.push_back(1);
  }
  return out;
}

}  // namespace

void broadcast_promoted(Inference& inference) {
  const Row& row = inference.row();
  std::size_t first = 0;
  while (first + 1 < row.input_count && !row.inputs[first].promoted) ++first;
  inference.output({inference.input(first).dtype, broadcast_of_all(inference)});
}

void broadcast_to_bool(Inference& inference) { inference.output({DType::boolean, broadcast_of_all(inference)}); }

void same_shape_and_dtype(Inference& inference) { inference.output(inference.input(0)); }

void same_shape_real_dtype(Inference& inference) {
  const TensorType& x = inference.input(0);
  inference.output({real_dtype_of(x.dtype), x.shape});
}

void reduced(Inference& inference) { inference.output({inference.input(0).dtype, reduced_shape(inference)}); }

void reduced_and_widened(Inference& inference) {
  inference.output({widened(inference.input(0).dtype), reduced_shape(inference)});
}

void reduced_to_bool(Inference& inference) { inference.output({DType::boolean, reduced_shape(inference)}); }

Shape batch_shape(const Shape& matrices) {
  return Shape(std::span<const int64_t>(matrices).first(matrices.size() - 2));
}

std::vector<int64_t> reduction_axes(const AttributeReader& attribute, int rank) {
  std::vector<int64_t> axes = attribute.integers("axis");
  if (axes.empty()) {
    axes.resize(static_cast<std::size_t>(rank));
    std::iota(axes.begin(), axes.end(), 0);
  }
  return axes;
}

Value half_of_large(Builder& b, Value mean) {
  const Value is_large = b.apply("greater", {b.apply("abs", {mean}), b.scalar_like(1, mean)});
  return b.where(is_large, b.scalar_like(0.5, mean), b.scalar_like(1, mean));
}

}  // namespace ferrule::ops
