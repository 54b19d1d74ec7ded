// Ops that keep some of the elements, in their order.
#include "kernels/compaction/compaction.h"

#include <ferrule/ops.h>

#include <algorithm>

#include "graphs/layout.h"
#include "kernels/movement/strided_copy_launch.h"
#include "kernels/planning.h"

namespace ferrule::cuda {
namespace {

// The bits that say whether an item, or half of one of 16 bytes, is zero.
uint64_t mask_of(const sdk::Operand& x) {
  if (x.is("complex64")) return 0x7fffffff'7fffffff;
  const size_t bits = 8 * std::min<size_t>(8, x.item_size());
  const uint64_t all = ~uint64_t{0} >> (64 - bits);
  const auto kind = static_cast<fe_dtype_class>(x.dtype_info().dtype_class);
  return kind == FE_CLASS_FLOAT || kind == FE_CLASS_COMPLEX ? all >> 1 : all;
}

bool is_count(const sdk::Operand& operand) { return operand.is("int64") && operand.rank() == 0; }

// Finds the items of input `input` that are not zero, and counts them in output 1. The launches that are added next
// have the result, whose places are at the start of the scratch memory.
FoundItems find_items(Plan& plan, const PlannedNode& node, uint32_t input) {
  const sdk::Operand x = node.input(input);
  FoundItems items{};
  items.length = static_cast<uint64_t>(x.count());
  items.chunks = std::max<uint64_t>(1, quotient_up(items.length, compaction_chunk));
  items.mask = mask_of(x);
  items.item_bytes = static_cast<uint32_t>(x.item_size());
  plan.scratch = quotient_up((items.chunks + 1) * sizeof(int64_t), 256) * 256;

  Launch& count = plan.launches.emplace_back(launch_of("compaction.count", items, items.chunks, compaction_threads));
  count.reads(offsetof(FoundItems, x), node.input_value(input));
  count.uses_scratch(offsetof(FoundItems, places), 0, true);
  Launch& places =
      plan.launches.emplace_back(launch_of("compaction.places", CompactionPlacesParameters{items, 0}, 1, 1024));
  places.uses_scratch(offsetof(CompactionPlacesParameters, items.places), 0, true);
  places.writes(offsetof(CompactionPlacesParameters, count), node.output_value(1));
  return items;
}

// Binds the FoundItems at the start of the launch's parameters.
void bind_items(Launch& launch, const PlannedNode& node, uint32_t input) {
  launch.reads(offsetof(FoundItems, x), node.input_value(input));
  launch.uses_scratch(offsetof(FoundItems, places), 0, false);
}

Plan plan_nonzero(const PlannedNode& node, const Capabilities&) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const sdk::Operand x = node.input(0), out = node.output(0);
  if (x.dtype_info().block_elements != 1) return refusal("it finds no blocks");
  if (!is_count(node.output(1)) || !out.is("int64") || out.rank() != 2 || out.shape()[1] != x.rank())
    return refusal("the outputs have other shapes");
  Plan plan = plan_named("compaction.indices");
  plan.support.contiguous_inputs = {0};
  CompactionIndicesParameters p{};
  p.items = find_items(plan, node, 0);
  p.size = static_cast<uint64_t>(out.shape()[0]);
  if (p.size == 0) return plan;
  p.rank = static_cast<uint32_t>(x.rank());
  p.is_near = p.items.length <= UINT32_MAX ? 1 : 0;
  std::copy(x.shape().begin(), x.shape().end(), p.shape);
  Launch& launch = plan.launches.emplace_back(launch_of(plan.support.kernel, p, p.items.chunks, compaction_threads));
  bind_items(launch, node, 0);
  launch.writes(offsetof(CompactionIndicesParameters, to), node.output_value(0));
  return plan;
}

Plan plan_compress(const PlannedNode& node, const Capabilities& capabilities) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const sdk::Operand x = node.input(0), condition = node.input(1), out = node.output(0);
  const auto axis = static_cast<size_t>(node.attributes<fe_compress_attributes>().axis);
  if (x.dtype_info().block_elements != 1) return refusal("it keeps no blocks");
  if (!is_count(node.output(1)) || !condition.is("bool") || out.dtype() != x.dtype() || out.rank() != x.rank())
    return refusal("the outputs have other shapes");
  Plan plan = plan_named("compaction.slices");
  plan.support.contiguous_inputs = {0, 1};
  const FoundItems items = find_items(plan, node, 1);
  if (out.count() == 0) return plan;

  const uint64_t kept_at = plan.scratch;
  CompactionKeptParameters kept{};
  kept.items = items;
  kept.size = static_cast<uint64_t>(out.shape()[axis]);
  plan.scratch += std::min(kept.size, items.length) * sizeof(int64_t);
  Launch& list = plan.launches.emplace_back(launch_of("compaction.kept", kept, items.chunks, compaction_threads));
  bind_items(list, node, 1);
  list.uses_scratch(offsetof(CompactionKeptParameters, to), kept_at, true);

  CompactionSlicesParameters p{};
  p.outer_count = 1;
  p.slice_bytes = x.item_size();
  for (size_t k = 0; k < x.shape().size(); ++k) {
    if (k < axis) p.outer_count *= static_cast<uint64_t>(x.shape()[k]);
    if (k > axis) p.slice_bytes *= static_cast<uint64_t>(x.shape()[k]);
  }
  p.length = items.length;
  p.size = kept.size;
  const auto bytes = static_cast<uint64_t>(out.count()) * x.item_size();
  Launch& launch = plan.launches.emplace_back(
      launch_of(plan.support.kernel, p, copying_blocks(bytes, p.slice_bytes, capabilities), copying_threads));
  launch.reads(offsetof(CompactionSlicesParameters, from), node.input_value(0));
  launch.writes(offsetof(CompactionSlicesParameters, to), node.output_value(0));
  launch.uses_scratch(offsetof(CompactionSlicesParameters, kept), kept_at, false);
  launch.reads(offsetof(CompactionSlicesParameters, count), node.output_value(1));
  return plan;
}

}  // namespace

KERNEL(nonzero, plan_nonzero)
KERNEL(compress, plan_compress)

}  // namespace ferrule::cuda
