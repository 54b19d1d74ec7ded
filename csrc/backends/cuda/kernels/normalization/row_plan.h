// Division of a row of a width among threads (rows.h): the kernel, its parameters and its grid.
#pragma once

#include <algorithm>
#include <bit>

#include "kernels/normalization/rows.h"
#include "kernels/planning.h"

namespace ferrule::cuda {

struct RowPlan {
  RowParameters parameters;
  std::string kernel;  // "softmax.held_f32_vectors"
  uint64_t blocks;
  uint32_t threads, shared_memory;
};

// Plans the rows of x, which has elements, of float32 or 16 bits.
inline RowPlan plan_rows(const std::string& file, const sdk::Operand& x, const Capabilities& capabilities) {
  const auto leading = static_cast<size_t>(x.rank() - 1);
  const auto width = static_cast<uint64_t>(x.shape().back());
  RowPlan plan{};
  RowParameters& p = plan.parameters;
  p.rows = layout_of(x.shape().first(leading), x.strides().first(leading));
  p.width = width;
  p.row_count = static_cast<uint64_t>(x.count()) / width;
  p.stride = x.strides().back();
  const uint64_t widest = 16 / x.item_size(), vector = width % widest == 0 ? widest : 1, vectors = width / vector;
  const char* length = "short_";
  if (vectors <= 32) {
    p.team = std::bit_ceil(static_cast<uint32_t>(vectors));
  } else if (width <= uint64_t{held_items} * most_held_threads) {
    length = "held_";
    p.team = static_cast<uint32_t>(quotient_up(width, 32 * held_items)) * 32;
  } else {
    length = "long_";
    p.team = width <= 32768 ? 512 : 1024;
    constexpr uint64_t static_memory = 256;  // of the kernels
    const uint64_t bytes = width * x.item_size();
    p.in_shared = bytes + static_memory <= capabilities.shared_memory ? 1 : 0;
    plan.shared_memory = p.in_shared != 0 ? static_cast<uint32_t>(bytes) : 0;
  }
  plan.kernel = file + "." + length + abbreviation_of(x) + (vector > 1 ? "_vectors" : "");
  // One row in a block, or as many as there are teams in 256 threads.
  plan.threads = p.team > 32 ? p.team : 256;
  plan.blocks = quotient_up(p.row_count, plan.threads / p.team);
  return plan;
}

}  // namespace ferrule::cuda
