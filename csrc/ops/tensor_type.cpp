#include "ops/tensor_type.h"

#include <algorithm>

namespace ferrule {
namespace {

// Of numbers >= 0.
int64_t checked_product(int64_t a, int64_t b, const Shape& shape) {
  if (b != 0 && a > INT64_MAX / b) fail_argument("an array of shape {} is larger than memory can be", to_string(shape));
  return a * b;
}

// The product of the sizes that are not zero: as long as it fits, so does each stride, and each product of some sizes.
int64_t checked_extent(const Shape& shape) {
  int64_t extent = 1;
  for (int64_t size : shape)
    if (size < 0) fail_argument("shape {} has a negative size", to_string(shape));
  for (int64_t size : shape) extent = checked_product(extent, std::max<int64_t>(size, 1), shape);
  return extent;
}

bool is_empty(const Shape& shape) { return std::find(shape.begin(), shape.end(), 0) != shape.end(); }

[[noreturn]] void fail_reach(const Shape& shape, const Strides& strides) {
  fail_argument("shape {} with strides {} reaches further than memory", to_string(shape), to_string(strides));
}

}  // namespace

int64_t element_count(const Shape& shape) {
  const int64_t extent = checked_extent(shape);
  return is_empty(shape) ? 0 : extent;
}

Reach checked_reach(const Shape& shape, const Strides& strides, int64_t unit) {
  Reach reach;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const int64_t stride = strides[axis], steps = std::max<int64_t>(shape[axis] - 1, 0);
    if (stride > INT64_MAX / unit || stride < -(INT64_MAX / unit)) fail_reach(shape, strides);
    const int64_t distance = stride < 0 ? -stride : stride;
    if (steps != 0 && distance > INT64_MAX / unit / steps) fail_reach(shape, strides);
    int64_t& side = stride < 0 ? reach.before : reach.after;
    if (distance * steps > INT64_MAX / unit - 1 - reach.before - reach.after) fail_reach(shape, strides);
    side += distance * steps;
  }
  return reach;
}

Strides contiguous_strides(const Shape& shape) {
  Strides strides;
  strides.resize(shape.rank());
  int64_t stride = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    strides[axis] = stride;
    stride *= std::max<int64_t>(shape[axis], 1);
  }
  return strides;
}

bool is_contiguous(const Shape& shape, const Strides& strides) {
  int64_t expected = 1;
  for (int64_t size : shape)
    if (size == 0) return true;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    if (shape[axis] == 1) continue;
    if (strides[axis] != expected) return false;
    expected *= shape[axis];
  }
  return true;
}

bool is_same_layout(const Shape& shape, const Strides& one, const Strides& other) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return true;
  for (int axis = 0; axis < shape.rank(); ++axis)
    if (shape[axis] != 1 && one[axis] != other[axis]) return false;
  return true;
}

std::string to_string(const Dims& dims) {
  std::string text = "(";
  for (int axis = 0; axis < dims.rank(); ++axis) text += fmt::format("{}{}", axis ? ", " : "", dims[axis]);
  return text + (dims.rank() == 1 ? ",)" : ")");
}

Shape broadcast(const char* op, const Shape& a, const Shape& b) {
  Shape out;
  const int rank = std::max(a.rank(), b.rank());
  out.resize(rank);
  for (int axis = 0; axis < rank; ++axis) {
    const int in_a = axis - (rank - a.rank()), in_b = axis - (rank - b.rank());
    const int64_t size_a = in_a < 0 ? 1 : a[in_a], size_b = in_b < 0 ? 1 : b[in_b];
    if (size_a != size_b && size_a != 1 && size_b != 1)
      fail_argument("{}: shapes {} and {} do not broadcast: {} != {} in axis {}", op, to_string(a), to_string(b),
                    size_a, size_b, axis);
    out[axis] = size_a == 1 ? size_b : size_a;
  }
  return out;
}

std::string to_string(const TensorType& type) { return name_of(type.dtype) + to_string(type.shape); }

int64_t byte_count(const TensorType& type) {
  const int64_t bytes =
      checked_product(checked_extent(type.shape), static_cast<int64_t>(size_of(type.dtype)), type.shape);
  return is_empty(type.shape) ? 0 : bytes;
}

}  // namespace ferrule
