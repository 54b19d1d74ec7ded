#include "ops/tensor_type.h"

namespace ferrule {
namespace {

int64_t checked_product(int64_t a, int64_t b, const Shape& shape) {
  int64_t product = 0;
  const bool overflow = b != 0 && a > INT64_MAX / b;
  if (overflow) fail_argument("an array of shape {} is larger than memory can be", to_string(shape));
  product = a * b;
  return product;
}

}  // namespace

int64_t element_count(const Shape& shape) {
  int64_t count = 1;
  for (int64_t size : shape) {
    if (size < 0) fail_argument("shape {} has a negative size", to_string(shape));
    if (size == 0) return 0;
  }
  for (int64_t size : shape) count = checked_product(count, size, shape);
  return count;
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
  return checked_product(element_count(type.shape), static_cast<int64_t>(size_of(type.dtype)), type.shape);
}

}  // namespace ferrule
