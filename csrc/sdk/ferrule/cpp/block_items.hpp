// Arrays of blocks as arrays of the items that move them, and arrays of numbers as groups that become blocks.
#ifndef FERRULE_CPP_BLOCK_ITEMS_HPP
#define FERRULE_CPP_BLOCK_ITEMS_HPP

#include <ferrule/cpp/graph.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace ferrule::sdk {

// The words that move blocks: of two bytes, or of one where a block has an odd number.
struct BlockWords {
  int64_t bytes, count;  // of a word, and in a block

  explicit BlockWords(const fe_dtype_info& dtype)
      : bytes(dtype.block_bytes % 2 == 0 ? 2 : 1), count(dtype.block_bytes / bytes) {}
};

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

// Sizes of an operand of numbers in groups of `elements` along its last axis, which is contiguous, and strides in
// numbers.
struct ElementGroups {
  std::vector<int64_t> shape, strides;

  ElementGroups(const Operand& x, int64_t elements)
      : shape(x.shape().begin(), x.shape().end()), strides(x.strides().begin(), x.strides().end()) {
    shape.back() /= elements;
    strides.back() = elements;
  }
};

}  // namespace ferrule::sdk

#endif
