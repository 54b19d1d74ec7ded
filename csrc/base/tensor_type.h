// Shape and dtype of a value.
#pragma once

#include "base/dtype.h"
#include "base/error.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace ferrule {

// Up to FE_MAX_RANK sizes (or strides, or axes), without dynamic memory.
class Dims {
 public:
  Dims() = default;
  Dims(std::initializer_list<int64_t> values) : Dims(std::span<const int64_t>(values.begin(), values.size())) {}
  explicit Dims(std::span<const int64_t> values) {
    for (int64_t value : values) push_back(value);
  }
  int rank() const { return rank_; }
  bool empty() const { return rank_ == 0; }
  std::size_t size() const { return static_cast<std::size_t>(rank_); }
  void push_back(int64_t value) {
    if (rank_ == FE_MAX_RANK) fail_argument("an array has at most {} dimensions", FE_MAX_RANK);
    values_[static_cast<std::size_t>(rank_++)] = value;
  }
  void resize(int rank, int64_t fill = 0) {
    if (rank < 0 || rank > FE_MAX_RANK) fail_argument("an array has at most {} dimensions", FE_MAX_RANK);
    for (int axis = rank_; axis < rank; ++axis) values_[static_cast<std::size_t>(axis)] = fill;
    rank_ = rank;
  }
  int64_t& operator[](int axis) { return values_[static_cast<std::size_t>(axis)]; }
  int64_t operator[](int axis) const { return values_[static_cast<std::size_t>(axis)]; }
  const int64_t* data() const { return values_.data(); }
  const int64_t* begin() const { return values_.data(); }
  const int64_t* end() const { return values_.data() + rank_; }
  int64_t* begin() { return values_.data(); }
  int64_t* end() { return values_.data() + rank_; }
  operator std::span<const int64_t>() const { return {values_.data(), size()}; }
  friend bool operator==(const Dims& a, const Dims& b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

 private:
  std::array<int64_t, FE_MAX_RANK> values_{};
  int rank_ = 0;
};

using Shape = Dims;    // sizes, each >= 0
using Strides = Dims;  // in elements

// Number of elements. Throws invalid_argument if a size is negative or the product of the nonzero sizes exceeds 63
// bits.
int64_t element_count(const Shape& shape);
// Distances of strided elements before and after the element at index (0, ..., 0), in the unit of the strides: all
// elements are in a range of `before + 1 + after`, and that element is at `before`. Both are 0 without elements.
struct Reach {
  int64_t before = 0, after = 0;
};
// Throws invalid_argument if `before` + 1 + `after`, or a stride, times `unit` exceeds 63 bits.
Reach reach_of(const Shape& shape, const Strides& strides, int64_t unit = 1);
// Strides of a C-contiguous array; its element_count must not overflow.
Strides contiguous_strides(const Shape& shape);
// Whether strides are those of a C-contiguous array. Strides of axes of size 1 and of empty arrays do not matter.
bool is_contiguous(const Shape& shape, const Strides& strides);
// Whether both strides address the same elements. Strides of axes of size 1 and of empty arrays do not matter.
bool is_same_layout(const Shape& shape, const Strides& one, const Strides& other);
// "(2, 3)", "(2,)", "()".
std::string to_string(const Dims& dims);
// The broadcast shape; throws invalid_argument, with a message that names `op`, if there is none.
Shape broadcast(const char* op, const Shape& a, const Shape& b);

struct TensorType {
  DType dtype = DType::none;
  Shape shape;
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

// "float32(2, 3)".
std::string to_string(const TensorType& type);
// Bytes of a contiguous array of this type. Throws as element_count does, and if the last axis of a block dtype is not
// a whole number of blocks.
int64_t byte_count(const TensorType& type);
// Throws invalid_argument unless the strides address whole blocks, as those of a plain dtype always do.
void check_blocks(const TensorType& type, const Strides& strides);
// The strides in bytes; that of the last axis of a block dtype is the distance of two blocks.
Strides byte_strides_of(DType dtype, const Strides& strides);
// Copies elements with any strides (in bytes) and alignment to contiguous memory.
void gather(const std::byte* first, const TensorType& type, const Strides& byte_strides, std::byte* to);

}  // namespace ferrule
