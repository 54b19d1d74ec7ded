// Block dtypes in plans. Kernels move and read blocks in words (sdk::BlockWords).
#pragma once

#include <ferrule/cpp/block_items.hpp>

#include "kernels/planning.h"

namespace ferrule::metal {

inline int64_t block_elements(const sdk::Operand& x) { return x.dtype_info().block_elements; }
inline bool is_block(const sdk::Operand& x) { return block_elements(x) != 1; }

inline std::string type_of_word(const sdk::BlockWords& words) { return words.bytes == 2 ? "ushort" : "uchar"; }
inline std::string item_definition(const sdk::BlockWords& words) {
  return "typedef " + type_of_word(words) + " Item;\n";
}
inline Layout layout_of(const sdk::BlockItems& items) { return layout_of(items.shape, items.strides); }

// The definitions that block_weights.metal needs for a block dtype, and the line that includes it.
inline std::string block_format(fe_dtype dtype) {
  const fe_dtype_info& row = *sdk::host->dtype_info(dtype);
  const sdk::BlockWords words(row);
  return definition("BLOCK_DTYPE", std::string(sdk::host->dtype_name(dtype))) +
         definition("BLOCK_ELEMENTS", static_cast<uint64_t>(row.block_elements)) +
         definition("BLOCK_WORD", type_of_word(words)) + definition("BLOCK_WORDS", static_cast<uint64_t>(words.count)) +
         "#include \"block_weights.metal\"\n";
}

}  // namespace ferrule::metal
