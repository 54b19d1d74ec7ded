// pad: adds elements around an array.
#include <ferrule/ops.h>

#include "graphs/layout.h"
#include "../planning.h"

namespace ferrule::vulkan {
namespace {

struct Axis {
  int64_t size, before, inside, stride;
};
struct Parameters {
  Axis axes[FE_MAX_RANK];
  int64_t count;
  uint32_t rank, from, value, to;
};
static_assert(sizeof(Parameters) == FE_MAX_RANK * 32 + 24);
constexpr uint32_t no_value = UINT32_MAX;

Plan plan_pad(const PlannedNode& node, const Capabilities& capabilities) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const sdk::Operand x = node.input(0), out = node.output(0);
  if (x.dtype() != out.dtype() || (node.input_count() > 1 && node.input(1).dtype() != out.dtype()))
    return refusal("the operands differ in dtype");
  Plan plan = plan_named(by_item_size("pad", out));
  if (out.count() == 0) return plan;
  const auto& attributes = node.attributes<fe_pad_attributes>();
  Parameters p = {.axes = {},
                  .count = out.count(),
                  .rank = static_cast<uint32_t>(out.rank()),
                  .from = node.input_value(0),
                  .value = node.input_count() > 1 ? node.input_value(1) : no_value,
                  .to = node.output_value(0)};
  const auto rank = static_cast<size_t>(out.rank());
  for (size_t k = 0; k < rank; ++k)
    p.axes[rank - 1 - k] = {out.shape()[k], attributes.before.data[k], x.shape()[k], x.strides()[k]};
  Dispatch& dispatch = plan.launches.emplace_back(dispatch_of(plan.support.kernel, p, {p.from}, p.to));
  if (p.value != no_value) dispatch.reads.push_back(p.value);
  set_grid(dispatch, static_cast<uint64_t>(p.count), capabilities);
  return plan;
}

}  // namespace

KERNEL(pad, plan_pad)

}  // namespace ferrule::vulkan
