// The constant and the parameters that the host passes to block_weights.glsl.
#pragma once

#include <ferrule/cpp/codebooks.hpp>
#include <ferrule/dtypes.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <string_view>
#include <vector>

#include "pipelines/dispatch.h"

namespace ferrule::vulkan {

// The constant DTYPE.
inline uint32_t block_row(std::string_view dtype) {
#define NAME(id, ...) #id,
  static constexpr std::string_view names[] = {FE_DTYPES(FE_NO_DTYPE, NAME)};
#undef NAME
  static_assert(std::size(names) == 23, "block_weights.glsl has a case for each");
  return static_cast<uint32_t>(std::ranges::find(names, dtype) - std::begin(names));
}

// The codebook of a dtype; empty if it has none.
inline std::span<const uint16_t> codebook_of(std::string_view dtype) {
  if (dtype.starts_with("iq1")) return sdk::iq1_codebook;
  if (dtype == "iq2_xxs") return sdk::iq2_xxs_codebook;
  if (dtype == "iq2_xs") return sdk::iq2_xs_codebook;
  if (dtype == "iq2_s") return sdk::iq2_s_codebook;
  if (dtype == "iq3_xxs") return sdk::iq3_xxs_codebook;
  if (dtype == "iq3_s") return sdk::iq3_s_codebook;
  return {};
}
inline void add_codebook(Dispatch& dispatch, std::string_view dtype) {
  const auto bytes = std::as_bytes(codebook_of(dtype));
  dispatch.parameters.insert(dispatch.parameters.end(), bytes.begin(), bytes.end());
}

// Bytes, from the first block on, of the block with element `offset`. Strides in elements are converted as offsets are.
inline int64_t bytes_to_block(const fe_dtype_info& dtype, int64_t offset) {
  return offset / dtype.block_elements * dtype.block_bytes;
}

}  // namespace ferrule::vulkan
