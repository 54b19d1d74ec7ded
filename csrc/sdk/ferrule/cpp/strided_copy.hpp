// Elements of a strided operand one after the other: what every host device needs before a kernel that asks for
// contiguous inputs. See ferrule/backend.hpp.
#ifndef FERRULE_CPP_STRIDED_COPY_HPP
#define FERRULE_CPP_STRIDED_COPY_HPP

#include <ferrule/cpp/device.hpp>

#include <cstring>

namespace ferrule::sdk {

// `to` is contiguous and has the shape of `from`. Blocks of a block dtype are copied whole.
inline void strided_copy(const Launch& launch, const Operand& from, const Operand& to) {
  const fe_dtype_info& dtype = from.dtype_info();
  const int64_t item = dtype.block_bytes;
  const int64_t rank = from.rank(), count = from.count() / dtype.block_elements;
  const bool is_plain = dtype.block_elements == 1;
  const int64_t row = rank > 0 ? from.shape()[static_cast<size_t>(rank - 1)] / dtype.block_elements : 1;
  const int64_t step = rank > 0 && is_plain ? from.strides()[static_cast<size_t>(rank - 1)] * item : item;
  if (count == 0) return;
  const char* source = launch.pointer<const char>(from);
  char* target = launch.pointer<char>(to);
  std::array<int64_t, FE_MAX_RANK> index{};
  for (int64_t done = 0; done < count; done += row) {
    if (step == item) {
      std::memcpy(target, source, static_cast<size_t>(row * item));
    } else {
      for (int64_t i = 0; i < row; ++i) std::memcpy(target + i * item, source + i * step, static_cast<size_t>(item));
    }
    target += row * item;
    for (int64_t axis = rank - 2; axis >= 0; --axis) {
      const auto at = static_cast<size_t>(axis);
      const int64_t stride = from.bytes_of(from.strides()[at]);
      source += stride;
      if (++index[at] < from.shape()[at]) break;
      source -= stride * from.shape()[at];
      index[at] = 0;
    }
  }
}

}  // namespace ferrule::sdk

#endif
