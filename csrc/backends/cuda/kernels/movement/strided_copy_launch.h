// Plans of copies by strided_copy.cu.
#pragma once

#include "graphs/plan.h"
#include "kernels/movement/strided_copy.h"

namespace ferrule::cuda {

// Shape and strides in whole items: a block of a block dtype is an item.
struct ItemLayout {
  std::vector<int64_t> shape, strides;
};
ItemLayout items_of(const sdk::Operand& operand, std::span<const int64_t> shape, std::span<const int64_t> strides);
inline ItemLayout items_of(const sdk::Operand& operand) {
  return items_of(operand, operand.shape(), operand.strides());
}

// The copy of an array whose items are `from` apart in the source, and `to` apart in the destination.
StridedCopyParameters strided_copy(const ItemLayout& from, std::span<const int64_t> to, size_t item_bytes);

inline constexpr uint32_t copying_threads = 256;
// Blocks for kernels that copy `bytes` bytes in units that divide `alignment`.
uint64_t copying_blocks(uint64_t bytes, uint64_t alignment, const Capabilities& capabilities);

// Adds a launch that copies from the value `from` to the value `to`, unless there is nothing to copy.
void add_strided_copy(Plan& plan, const StridedCopyParameters& p, uint32_t from, uint32_t to,
                      const Capabilities& capabilities);

}  // namespace ferrule::cuda
