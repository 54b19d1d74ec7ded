// Conversion between dtypes: from and to blocks, and as an elementwise op.
#include <ferrule/cpp/block_items.hpp>

#include "../block_weights.h"
#include "../elementwise.h"
#include "../planning.h"
#include "graphs/layout.h"

namespace ferrule::vulkan {
namespace {

struct DequantizeParameters {
  Layout blocks;
  int64_t count;
  uint32_t in_block, to;
};
static_assert(offsetof(DequantizeParameters, to) == sizeof(Layout) + 12);

struct QuantizeParameters {
  Layout blocks;
  int64_t count;
  uint32_t to;
};
static_assert(offsetof(QuantizeParameters, to) == sizeof(Layout) + 8);

Plan plan_dequantize(const PlannedNode& node, const Capabilities& capabilities) {
  const sdk::Operand x = node.input(0), out = node.output(0);
  if (!out.is("float32")) return refusal("blocks become float32 alone");
  const std::string dtype(sdk::host->dtype_name(x.dtype()));
  Plan plan = plan_named("dequantize");
  plan.support.row_inputs = {0};
  if (out.count() == 0) return plan;
  const fe_dtype_info blocks = x.dtype_info();
  sdk::BlockItems items(x, 1);
  for (int64_t& stride : items.strides) stride *= blocks.block_bytes;
  const DequantizeParameters p = {.blocks = layout_of(node.input_value(0), items.shape, items.strides),
                                  .count = out.count() / 8,
                                  .in_block = static_cast<uint32_t>(blocks.block_elements / 8),
                                  .to = node.output_value(0)};
  plan.launches.push_back(dispatch_of(plan.support.kernel, p, {p.blocks.value}, p.to, {block_row(dtype)}));
  add_codebook(plan.launches.back(), dtype);
  set_grid(plan.launches.back(), static_cast<uint64_t>(p.count), capabilities);
  return plan;
}

Plan plan_quantize(const PlannedNode& node, const Capabilities& capabilities) {
  const sdk::Operand x = node.input(0), out = node.output(0);
  if (!x.is("float32") || !(out.is("q8_0") || out.is("q4_0"))) return refusal("only float32 becomes q8_0 or q4_0");
  Plan plan = plan_named("quantize." + std::string(sdk::host->dtype_name(out.dtype())));
  plan.support.row_inputs = {0};
  if (out.count() == 0) return plan;
  const int64_t elements = out.dtype_info().block_elements;
  const sdk::ElementGroups groups(x, elements);
  const QuantizeParameters p = {.blocks = layout_of(node.input_value(0), groups.shape, groups.strides),
                                .count = x.count() / elements,
                                .to = node.output_value(0)};
  plan.launches.push_back(dispatch_of(plan.support.kernel, p, {p.blocks.value}, p.to));
  set_grid(plan.launches.back(), static_cast<uint64_t>(p.count), capabilities);
  return plan;
}

Plan plan_astype(const PlannedNode& node, const Capabilities& capabilities) {
  const bool from_blocks = node.input(0).dtype_info().block_elements != 1;
  const bool to_blocks = node.output(0).dtype_info().block_elements != 1;
  if (node.body() != nullptr || from_blocks == to_blocks) return plan_elementwise(node, capabilities);
  return from_blocks ? plan_dequantize(node, capabilities) : plan_quantize(node, capabilities);
}

}  // namespace

KERNEL(astype, plan_astype)

}  // namespace ferrule::vulkan
