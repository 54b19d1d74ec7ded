#include "base/tensor_type.h"

#include <algorithm>
#include <cstring>

namespace ferrule {
namespace {

// Requires a >= 0 and b >= 0.
int64_t checked_product(int64_t a, int64_t b, const Shape& shape) {
  if (b != 0 && a > INT64_MAX / b) fail_argument("an array of shape {} is larger than memory can be", to_string(shape));
  return a * b;
}

// The product of the nonzero sizes. If it fits, so does each stride, and each product of some of the sizes.
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

Reach reach_of(const Shape& shape, const Strides& strides, int64_t unit) {
  Reach reach;
  const int64_t most = INT64_MAX / unit;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const int64_t stride = strides[axis], steps = std::max<int64_t>(shape[axis] - 1, 0);
    if (stride > most || stride < -most) fail_reach(shape, strides);
    const int64_t distance = stride < 0 ? -stride : stride;
    if (steps != 0 && distance > most / steps) fail_reach(shape, strides);
    int64_t& side = stride < 0 ? reach.before : reach.after;
    if (distance * steps > most - 1 - reach.before - reach.after) fail_reach(shape, strides);
    side += distance * steps;
  }
  if (is_empty(shape)) return {};
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
  const int64_t extent = checked_extent(type.shape), whole = block_elements(type.dtype);
  if (whole != 1 && (type.shape.rank() == 0 || type.shape[type.shape.rank() - 1] % whole != 0))
    fail_argument("{}: the last axis of {} is a whole number of blocks of {} elements", to_string(type),
                  name_of(type.dtype), whole);
  const int64_t bytes = checked_product(std::max<int64_t>(extent / whole, 1), block_bytes(type.dtype), type.shape);
  return is_empty(type.shape) ? 0 : bytes;
}

void check_blocks(const TensorType& type, const Strides& strides) {
  const int64_t whole = block_elements(type.dtype);
  const int last = type.shape.rank() - 1;
  if (whole == 1 || element_count(type.shape) == 0) return;
  for (int axis = 0; axis <= last; ++axis)
    if (type.shape[axis] > 1 && (axis == last ? strides[axis] != 1 : strides[axis] % whole != 0))
      fail_argument("{} with strides {} does not lie in whole blocks of the dtype", to_string(type),
                    to_string(strides));
}

Strides byte_strides_of(DType dtype, const Strides& strides) {
  Strides bytes = strides;
  const int last = block_elements(dtype) == 1 ? -1 : strides.rank() - 1;
  for (int axis = 0; axis < strides.rank(); ++axis)
    bytes[axis] = axis == last ? block_bytes(dtype) : bytes_of(dtype, strides[axis]);
  return bytes;
}

void gather(const std::byte* first, const TensorType& type, const Strides& byte_strides, std::byte* to) {
  if (is_empty(type.shape)) return;
  const auto bytes = static_cast<std::size_t>(block_bytes(type.dtype));
  const int last = type.shape.rank() - 1;
  const int64_t row = last < 0 ? 1 : type.shape[last] / block_elements(type.dtype);
  const int64_t step = last < 0 ? 0 : byte_strides[last];
  const bool is_run = row == 1 || step == block_bytes(type.dtype);
  Dims index;
  index.resize(std::max(last, 0));
  for (;;) {
    if (is_run) {
      std::memcpy(to, first, static_cast<std::size_t>(row) * bytes);
      to += static_cast<std::size_t>(row) * bytes;
    } else {
      for (int64_t i = 0; i < row; ++i, to += bytes) std::memcpy(to, first + i * step, bytes);
    }
    int axis = last - 1;
    for (; axis >= 0; --axis) {
      if (++index[axis] < type.shape[axis]) break;
      index[axis] = 0;
      first -= (type.shape[axis] - 1) * byte_strides[axis];
    }
    if (axis < 0) return;
    first += byte_strides[axis];
  }
}

}  // namespace ferrule
