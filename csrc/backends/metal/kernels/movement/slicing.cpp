// Slices whose starts are operands: dynamic_slice and update_slice.
#include <ferrule/ops.h>

#include "kernels/block_formats.h"
#include "kernels/movement/movement_plan.h"

namespace ferrule::metal {
namespace {

struct Start {
  uint32_t axis, unused;
  int64_t most, stride;
};
struct Slice {
  Layout from, to;
  uint64_t count;
  uint32_t result, start_count;
  Start starts[FE_MAX_RANK];
};

// The starts are the inputs from `first` on, for a slice of `size` in `x`. `reads` gets a value for each start that the
// kernel can have: the first one for those that it has not.
std::optional<std::string> read_starts(const PlannedNode& node, uint32_t first, const sdk::Operand& x,
                                       std::span<const int64_t> size, Slice& p, std::vector<uint32_t>& reads) {
  const auto rank = static_cast<uint32_t>(x.rank());
  if (node.input_count() != first + rank || size.size() != rank) return "there is not one start for each axis";
  if (rank == 0) return "it has no axes";
  p.start_count = rank;
  for (uint32_t axis = 0; axis < FE_MAX_RANK; ++axis) {
    reads.push_back(node.input_value(axis < rank ? first + axis : first));
    if (axis >= rank) continue;
    const sdk::Operand start = node.input(first + axis);
    if (start.rank() != 0 || start.dtype() != node.input(first).dtype() || !are_indices(start))
      return "the starts are not integers of one dtype";
    if (size[axis] > x.shape()[axis]) return "the slice is larger than x";
    p.starts[axis] = {axis, 0, x.shape()[axis] - size[axis], x.strides()[axis]};
  }
  return std::nullopt;
}

void add_slice(Plan& plan, const PlannedNode& node, const std::string& item, const Slice& p,
               std::vector<uint32_t> reads, uint32_t first, bool moved_is_written) {
  if (p.count == 0) return;
  const std::string definitions =
      item + index_definition(node.input(first)) + definition("MOVED_IS_WRITTEN", moved_is_written);
  plan.launches.push_back(
      movement_dispatch("slicing", "move_slice", definitions, p, std::move(reads), {p.result}, p.count));
}

Plan plan_dynamic_slice(const PlannedNode& node, const Capabilities&) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const sdk::Operand x = node.input(0), out = node.output(0);
  if (x.dtype() != out.dtype() || x.rank() != out.rank()) return refusal("the result is not a slice of x");
  Plan plan = plan_named("slicing");
  Slice p{};
  std::vector<uint32_t> reads = {node.input_value(0)};
  if (const auto reason = read_starts(node, 1, x, out.shape(), p, reads)) return refusal(*reason);
  p.result = node.output_value(0);
  if (is_block(x)) {
    plan.support.row_inputs = {0};
    const int64_t elements = block_elements(x);
    const sdk::BlockWords words(x.dtype_info());
    p.from = layout_of(sdk::BlockItems(x, out.shape(), words.count));
    p.to = layout_of(sdk::BlockItems(out, words.count));
    p.count = static_cast<uint64_t>(out.count() / elements * words.count);
    for (Start& start : p.starts) start.stride = start.stride / elements * words.count;  // the last axis is taken whole
    add_slice(plan, node, item_definition(words), p, std::move(reads), 1, false);
    return plan;
  }
  const std::string item = item_definition(out);
  p.from = layout_of(out.shape(), x.strides());
  p.to = layout_of(out);
  p.count = static_cast<uint64_t>(out.count());
  add_slice(plan, node, item, p, std::move(reads), 1, false);
  return plan;
}

Plan plan_update_slice(const PlannedNode& node, const Capabilities&) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const sdk::Operand x = node.input(0), value = node.input(1), out = node.output(0);
  if (x.dtype() != out.dtype() || value.dtype() != out.dtype() || x.rank() != out.rank() ||
      !std::equal(x.shape().begin(), x.shape().end(), out.shape().begin()))
    return refusal("the operands differ in dtype or shape");
  if (is_block(out)) return refusal("it writes no blocks");
  Plan plan = plan_named("slicing");
  Slice p{};
  std::vector<uint32_t> reads = {node.input_value(1)};
  if (const auto reason = read_starts(node, 2, out, value.shape(), p, reads)) return refusal(*reason);
  p.result = node.output_value(0);
  add_copy(plan, node, item_definition(out));
  p.from = layout_of(value);
  p.to = layout_of(value.shape(), out.strides());
  p.count = static_cast<uint64_t>(value.count());
  add_slice(plan, node, item_definition(out), p, std::move(reads), 2, true);
  return plan;
}

}  // namespace

KERNEL(dynamic_slice, plan_dynamic_slice)
KERNEL(update_slice, plan_update_slice)

}  // namespace ferrule::metal
