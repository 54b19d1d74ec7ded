// Copies of strided operands in host memory, which make inputs contiguous for kernels that need it. See
// ferrule/backend.hpp.
#ifndef FERRULE_CPP_STRIDED_COPY_HPP
#define FERRULE_CPP_STRIDED_COPY_HPP

#include <ferrule/cpp/device.hpp>

#include <array>
#include <cstring>
#include <span>

namespace ferrule::sdk {

// Copies items of `item` bytes; strides are in bytes.
inline void copy_items(char* to, std::span<const int64_t> to_strides, const char* from,
                       std::span<const int64_t> from_strides, std::span<const int64_t> shape, size_t item) {
  const size_t rank = shape.size();
  int64_t rows = 1;
  for (size_t axis = 0; axis + 1 < rank; ++axis) rows *= shape[axis];
  const int64_t row = rank > 0 ? shape[rank - 1] : 1;
  const int64_t to_step = rank > 0 ? to_strides[rank - 1] : 0, from_step = rank > 0 ? from_strides[rank - 1] : 0;
  const auto step = static_cast<int64_t>(item);
  if (row == 0) return;
  std::array<int64_t, FE_MAX_RANK> index{};
  for (; rows > 0; --rows) {
    if (to_step == step && from_step == step) {
      std::memcpy(to, from, static_cast<size_t>(row) * item);
    } else {
      for (int64_t i = 0; i < row; ++i) std::memcpy(to + i * to_step, from + i * from_step, item);
    }
    for (size_t axis = rank > 0 ? rank - 1 : 0; axis-- > 0;) {
      to += to_strides[axis];
      from += from_strides[axis];
      if (++index[axis] < shape[axis]) break;
      to -= to_strides[axis] * shape[axis];
      from -= from_strides[axis] * shape[axis];
      index[axis] = 0;
    }
  }
}

// Copies `from` to `to`, which is contiguous and has the same shape. For a block dtype, whose last axis is contiguous,
// it copies whole blocks.
inline void strided_copy(const Launch& launch, const Operand& from, const Operand& to) {
  const fe_dtype_info& dtype = from.dtype_info();
  const auto rank = static_cast<size_t>(from.rank());
  std::array<int64_t, FE_MAX_RANK> shape{}, to_strides{}, from_strides{};
  int64_t contiguous = dtype.block_bytes;
  for (size_t axis = rank; axis-- > 0;) {
    const bool is_blocks = dtype.block_elements > 1 && axis + 1 == rank;
    shape[axis] = is_blocks ? from.shape()[axis] / dtype.block_elements : from.shape()[axis];
    from_strides[axis] = is_blocks ? dtype.block_bytes : from.bytes_of(from.strides()[axis]);
    to_strides[axis] = contiguous;
    contiguous *= shape[axis];
  }
  if (from.count() == 0) return;
  copy_items(launch.pointer<char>(to), std::span(to_strides).first(rank), launch.pointer<const char>(from),
             std::span(from_strides).first(rank), std::span(shape).first(rank), dtype.block_bytes);
}

}  // namespace ferrule::sdk

#endif
