// Functions that the plans of many ops share.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graphs/layout.h"

namespace ferrule::cuda {

// "f16" for float16, "i64" for int64, "bool".
inline std::string abbreviation_of(const sdk::Operand& operand) {
  std::string name = sdk::host->dtype_name(operand.dtype());
  const size_t digits = name.find_first_of("0123456789");
  if (digits == std::string::npos) return name;
  return (name.starts_with("bfloat") ? "bf" : name.substr(0, 1)) + name.substr(digits);
}

// "take.u32": for kernels that move items of up to 16 bytes without interpreting them.
inline std::string by_item_size(const std::string& kernel, const sdk::Operand& operand) {
  const size_t bytes = operand.item_size();
  if (operand.dtype_info().block_elements != 1 || bytes > 16 || (bytes & (bytes - 1)) != 0)
    throw sdk::Error(FE_UNSUPPORTED, "it moves no items of " + std::to_string(bytes) + " bytes");
  return kernel + ".u" + std::to_string(8 * bytes);
}

inline bool is_half(const sdk::Operand& x) { return x.is("float16") || x.is("bfloat16"); }
inline bool is_floating(const sdk::Operand& x) { return is_half(x) || x.is("float32") || x.is("float64"); }

// The reason why no kernel but those with an epilogue takes a node, whatever its op.
inline std::optional<std::string> general_refusal(const sdk::Node& node) {
  if (node.body() != nullptr) return "it does not run the ops that are fused to it";
  return std::nullopt;
}

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
