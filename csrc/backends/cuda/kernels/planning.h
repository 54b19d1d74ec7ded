// Functions that the plans of many ops share.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graphs/layout.h"

namespace ferrule::cuda {

// "take.u32": for kernels that move items of up to 16 bytes without interpreting them.
inline std::string by_item_size(const std::string& kernel, const sdk::Operand& operand) {
  const size_t bytes = operand.item_size();
  if (operand.dtype_info().block_elements != 1 || bytes > 16 || (bytes & (bytes - 1)) != 0)
    throw sdk::Error(FE_UNSUPPORTED, "it moves no items of " + std::to_string(bytes) + " bytes");
  return kernel + ".u" + std::to_string(8 * bytes);
}

using sdk::general_refusal;

// Whether the first `count` inputs, of 2 bytes an item, begin where tensor maps can: at a multiple of 16 bytes of their
// storage. An offset that changes between executions may be anything.
inline bool begin_at_mapped_addresses(const PlannedNode& node, uint32_t count) {
  constexpr int64_t items = 8;
  for (uint32_t i = 0; i < count; ++i) {
    const fe_value& value = *node.view().values[node.input_value(i)];
    if (value.offset_slot >= 0 || value.offset % items != 0) return false;
  }
  return true;
}

inline Plan plan_named(std::string kernel) {
  Plan plan;
  plan.support.kernel = std::move(kernel);
  return plan;
}

}  // namespace ferrule::cuda
