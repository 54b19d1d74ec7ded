// The k greatest or least elements along an axis.
#include <ferrule/ops.h>

#include <bit>

#include "kernels/sorting_keys.h"

namespace ferrule::metal {
namespace {

struct Parameters {
  Layout kept;
  uint64_t rows, inner, padded;
  int64_t stride;
  uint32_t length, k;
};

constexpr uint32_t threads = 256;  // as in topk.metal

Plan plan_topk(const PlannedNode& node, const Capabilities&) {
  if (const auto reason = general_refusal(node)) return refusal(*reason);
  const auto& attributes = node.attributes<fe_topk_attributes>();
  const sdk::Operand x = node.input(0), values = node.output(0), indices = node.output(1);
  const auto at = static_cast<size_t>(attributes.axis);
  const int64_t length = x.shape()[at], k = attributes.k;
  if (k < 0 || k > length || values.rank() != x.rank() || indices.rank() != x.rank())
    return refusal("the outputs have other shapes");
  if (values.dtype() != x.dtype() || !indices.is("int64")) return refusal("the outputs have other dtypes");
  for (size_t axis = 0; axis < x.shape().size(); ++axis)
    for (const sdk::Operand& out : {values, indices})
      if (out.shape()[axis] != (axis == at ? k : x.shape()[axis])) return refusal("the outputs have other shapes");
  if (length > INT32_MAX) return refusal("it counts elements of a row in 32 bits");
  Plan plan = plan_named("topk");
  const std::string definitions = key_definitions(x) + definition("LEAST", attributes.largest == 0);
  if (values.count() == 0) return plan;
  std::vector<int64_t> shape, strides;
  uint64_t inner = 1;
  for (size_t axis = 0; axis < x.shape().size(); ++axis) {
    if (axis == at) continue;
    shape.push_back(x.shape()[axis]);
    strides.push_back(x.strides()[axis]);
    if (axis > at) inner *= static_cast<uint64_t>(x.shape()[axis]);
  }
  const Parameters p = {.kept = layout_of(shape, strides),
                        .rows = static_cast<uint64_t>(values.count() / k),
                        .inner = inner,
                        .padded = std::bit_ceil(static_cast<uint64_t>(k)),
                        .stride = x.strides()[at],
                        .length = static_cast<uint32_t>(length),
                        .k = static_cast<uint32_t>(k)};
  plan.launches.push_back(kernel_dispatch("sorting/topk", "topk", definitions, p, {node.input_value(0)},
                                          {node.output_value(0), node.output_value(1), scratch_value}, p.rows * threads,
                                          threads));
  plan.scratch = p.rows * p.padded * 2 * key_bytes(x);
  return plan;
}

}  // namespace

KERNEL(topk, plan_topk)

}  // namespace ferrule::metal
