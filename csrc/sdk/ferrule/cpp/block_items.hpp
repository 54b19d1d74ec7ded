// Arrays of blocks as arrays of the items that move them.
#ifndef FERRULE_CPP_BLOCK_ITEMS_HPP
#define FERRULE_CPP_BLOCK_ITEMS_HPP

#include <ferrule/cpp/graph.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace ferrule::sdk {

// Sizes and strides of an operand in items, of which `per_block` are adjacent for each block. Rows of blocks are
// contiguous. For a plain dtype these are the operand's own, where per_block is 1.
struct BlockItems {
  std::vector<int64_t> shape, strides;

  BlockItems(const Operand& x, std::span<const int64_t> sizes, int64_t per_block)
      : shape(sizes.begin(), sizes.end()), strides(x.strides().begin(), x.strides().end()) {
    const int64_t elements = x.dtype_info().block_elements;
    if (elements == 1) return;
    shape.back() = shape.back() / elements * per_block;
    for (int64_t& stride : strides) stride = stride / elements * per_block;
    strides.back() = 1;
  }
  BlockItems(const Operand& x, int64_t per_block) : BlockItems(x, x.shape(), per_block) {}
};

}  // namespace ferrule::sdk

#endif
