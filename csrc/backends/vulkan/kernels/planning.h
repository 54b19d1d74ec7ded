// Functions that the plans of many ops share.
#pragma once

#include <ferrule/cpp/axes.hpp>

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graphs/plan.h"

namespace ferrule::vulkan {

// "take.u32": for shaders that move items without interpreting them.
inline std::string by_item_size(const std::string& shader, const sdk::Operand& operand) {
  if (operand.item_size() > 8)
    throw sdk::Error(FE_UNSUPPORTED, "it moves no items of " + std::to_string(operand.item_size()) + " bytes");
  return shader + ".u" + std::to_string(8 * operand.item_size());
}

using sdk::general_refusal;

inline Plan plan_named(std::string kernel) {
  Plan plan;
  plan.support.kernel = std::move(kernel);
  return plan;
}

using sdk::quotient_up;

inline int64_t product_of(std::span<const int64_t> sizes) {
  int64_t product = 1;
  for (const int64_t size : sizes) product *= size;
  return product;
}

inline void add_constants(Dispatch& dispatch, std::initializer_list<uint32_t> constants) {
  dispatch.constants.insert(dispatch.constants.end(), constants);
}

// Makes a dispatch without its grid. `constants` follow the workgroup's size.
template <class Parameters>
Dispatch dispatch_of(std::string shader, const Parameters& parameters, std::vector<uint32_t> reads, uint32_t writes,
                     std::initializer_list<uint32_t> constants = {}) {
  Dispatch dispatch;
  dispatch.shader = std::move(shader);
  dispatch.constants = {1, 1, 1};
  add_constants(dispatch, constants);
  dispatch.set_parameters(parameters);
  dispatch.reads = std::move(reads);
  dispatch.writes = {writes};
  return dispatch;
}

}  // namespace ferrule::vulkan
