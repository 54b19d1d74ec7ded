// iota: 0, 1, 2, ...
#include "kernels/creation/iota.h"

#include "kernels/planning.h"

namespace ferrule::cuda {
namespace {

bool is_integer(const sdk::Operand& x) {
  for (const char* const name : {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"})
    if (x.is(name)) return true;
  return false;
}

Plan plan_iota(const PlannedNode& node, const Capabilities& capabilities) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const sdk::Operand out = node.output(0);
  if (!is_floating(out) && !is_integer(out)) return refusal("its elements are neither integers nor real numbers");
  Plan plan = plan_named(is_floating(out) ? "iota." + abbreviation_of(out) : by_item_size("iota", out));
  if (out.count() == 0) return plan;
  const IotaParameters p = {.to = 0, .count = static_cast<uint64_t>(out.count())};
  Launch& launch = plan.launches.emplace_back(
      launch_of(plan.support.kernel, p, blocks_for(p.count, 256, 16 / out.item_size(), capabilities), 256));
  launch.writes(offsetof(IotaParameters, to), node.output_value(0));
  return plan;
}

}  // namespace

KERNEL(iota, plan_iota)

}  // namespace ferrule::cuda
