// pad: adds elements around an array.
#include <ferrule/ops.h>

#include "kernels/movement/movement_plan.h"

namespace ferrule::metal {
namespace {

struct Axis {
  int64_t size, before, inside, stride;
};
struct Parameters {
  Axis axes[FE_MAX_RANK];
  uint64_t count;
  uint32_t rank, unused;
};

Plan plan_pad(const PlannedNode& node, const Capabilities&) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const sdk::Operand x = node.input(0), out = node.output(0);
  const bool has_value = node.input_count() > 1;
  if (x.dtype() != out.dtype() || (has_value && node.input(1).dtype() != out.dtype()))
    return refusal("the operands differ in dtype");
  Plan plan = plan_named("pad");
  const std::string definitions = item_definition(out) + definition("HAS_VALUE", has_value);
  if (out.count() == 0) return plan;
  const auto& attributes = node.attributes<fe_pad_attributes>();
  const auto rank = static_cast<size_t>(out.rank());
  Parameters p = {
      .axes = {}, .count = static_cast<uint64_t>(out.count()), .rank = static_cast<uint32_t>(rank), .unused = 0};
  for (size_t k = 0; k < rank; ++k)
    p.axes[rank - 1 - k] = {out.shape()[k], attributes.before.data[k], x.shape()[k], x.strides()[k]};
  std::vector<uint32_t> reads = {node.input_value(0)};
  if (has_value) reads.push_back(node.input_value(1));
  plan.launches.push_back(
      movement_dispatch("pad", "pad", definitions, p, std::move(reads), {node.output_value(0)}, p.count));
  return plan;
}

}  // namespace

KERNEL(pad, plan_pad)

}  // namespace ferrule::metal
