// Block dtypes in plans. Kernels move and read blocks in words of 2 bytes.
#pragma once

#include <algorithm>

#include "kernels/planning.h"
#include "pipelines/embedded_texts.h"

namespace ferrule::metal {

inline int64_t block_elements(const sdk::Operand& x) { return x.dtype_info().block_elements; }
inline bool is_block(const sdk::Operand& x) { return block_elements(x) != 1; }
// Whether blocks are whole words. Blocks of mxfp4 have 17 bytes.
inline bool has_words(const sdk::Operand& x) { return x.dtype_info().block_bytes % 2 == 0; }
inline int64_t block_words(fe_dtype dtype) { return sdk::host->dtype_info(dtype)->block_bytes / 2; }

inline std::string block_file(fe_dtype dtype) {
  return "block_formats/" + std::string(sdk::host->dtype_name(dtype)) + ".metal";
}
// Whether kernels decode the dtype.
inline bool has_block_file(fe_dtype dtype) {
  return std::ranges::any_of(embedded_texts(),
                             [name = block_file(dtype)](const auto& row) { return row.name == name; });
}
// The definitions that the file of a block dtype needs, and the line that includes it.
inline std::string block_format(fe_dtype dtype) {
  return definition("BLOCK_ELEMENTS", sdk::host->dtype_info(dtype)->block_elements) +
         definition("BLOCK_WORDS", static_cast<uint64_t>(block_words(dtype))) + "#include \"" + block_file(dtype) +
         "\"\n";
}

// An array of blocks as an array of items, of which `per_block` are adjacent for each block. Rows of blocks are
// contiguous.
struct ItemsOfBlocks {
  std::vector<int64_t> shape, strides;

  ItemsOfBlocks(const sdk::Operand& x, std::span<const int64_t> sizes, int64_t per_block)
      : shape(sizes.begin(), sizes.end()), strides(x.strides().begin(), x.strides().end()) {
    const int64_t elements = block_elements(x);
    shape.back() = shape.back() / elements * per_block;
    for (int64_t& stride : strides) stride = stride / elements * per_block;
    strides.back() = 1;
  }
  Layout layout() const { return layout_of(shape, strides); }
};

}  // namespace ferrule::metal
