// Shared by the files of kernels/. Each defines one function with the name of its op, which takes a node and returns
// its kernel, or a refusal that says why the node is not supported.
#pragma once

#include <ferrule/backend.hpp>
#include <ferrule/ops.h>

#include <cstdint>

namespace ferrule_backend_name {

using namespace ferrule::sdk;

// The offset of the `index`-th element in C order, in elements from the first. Inputs may be transposed, broadcast
// (stride 0) or reversed (stride < 0); outputs are always C-contiguous.
inline int64_t offset_of(const Operand& operand, int64_t index) {
  int64_t offset = 0;
  for (auto axis = static_cast<size_t>(operand.rank()); axis-- > 0;) {
    const int64_t size = operand.shape()[axis];
    offset += index % size * operand.strides()[axis];
    index /= size;
  }
  return offset;
}

// The number of pieces that a thread takes at a time: enough work to pay for waking it.
inline int64_t grain_of(int64_t elements_in_a_piece) {
  constexpr int64_t worthwhile = 16384;  // elements
  return elements_in_a_piece >= worthwhile ? 1 : worthwhile / std::max<int64_t>(elements_in_a_piece, 1);
}

}  // namespace ferrule_backend_name
