// Conversion between dtypes: from and to blocks, and as an elementwise op.

#include <ferrule/cpp/block_items.hpp>

#include "graphs/layout.h"
#include "kernels/conversion/blocks.h"
#include "kernels/elementwise_plan.h"
#include "kernels/planning.h"

#include <string>

namespace ferrule::cuda {
namespace {

int64_t block_elements(const sdk::Operand& x) { return x.dtype_info().block_elements; }

Plan plan_dequantize(const PlannedNode& node, const Capabilities& capabilities) {
  const sdk::Operand x = node.input(0), out = node.output(0);
  if (!out.is("float32")) return refusal("blocks become float32 alone");
  const sdk::DTypeInfo* const row = x.dtype_row();
  if (row == nullptr) return refusal("the dtype is newer than this module");
  Plan plan = plan_named("dequantize");
  plan.support.row_inputs = {0};
  if (out.count() == 0) return plan;
  const sdk::BlockItems blocks(x, 1);
  DequantizeParameters p{};
  p.blocks = layout_of(blocks.shape, blocks.strides);
  p.count = static_cast<uint64_t>(out.count() / 8);
  p.dtype_row = static_cast<uint32_t>(row - sdk::dtype_table);
  p.in_block = static_cast<uint32_t>(block_elements(x) / 8);
  p.block_bytes = row->block_bytes;
  Launch& launch = plan.launches.emplace_back(
      launch_of(plan.support.kernel, p, blocks_for(static_cast<uint64_t>(out.count()), 256, 8, capabilities), 256));
  launch.reads(offsetof(DequantizeParameters, from), node.input_value(0));
  launch.writes(offsetof(DequantizeParameters, to), node.output_value(0));
  return plan;
}

Plan plan_quantize(const PlannedNode& node, const Capabilities& capabilities) {
  const sdk::Operand x = node.input(0), out = node.output(0);
  if (!x.is("float32") || !(out.is("q8_0") || out.is("q4_0"))) return refusal("only float32 becomes q8_0 or q4_0");
  Plan plan = plan_named("quantize." + std::string(sdk::host->dtype_name(out.dtype())));
  plan.support.row_inputs = {0};
  if (out.count() == 0) return plan;
  const int64_t elements = block_elements(out);
  QuantizeParameters p{};
  const sdk::ElementGroups groups(x, elements);
  p.blocks = layout_of(groups.shape, groups.strides);
  p.count = static_cast<uint64_t>(x.count() / elements);
  Launch& launch = plan.launches.emplace_back(
      launch_of(plan.support.kernel, p, blocks_for(static_cast<uint64_t>(x.count()), 256, 4, capabilities), 256));
  launch.reads(offsetof(QuantizeParameters, from), node.input_value(0));
  launch.writes(offsetof(QuantizeParameters, to), node.output_value(0));
  return plan;
}

Plan plan_astype(const PlannedNode& node, const Capabilities& capabilities) {
  const bool from_blocks = block_elements(node.input(0)) != 1, to_blocks = block_elements(node.output(0)) != 1;
  if (node.body() != nullptr || from_blocks == to_blocks) return plan_elementwise(node, capabilities);
  return from_blocks ? plan_dequantize(node, capabilities) : plan_quantize(node, capabilities);
}

}  // namespace

KERNEL(astype, plan_astype)

}  // namespace ferrule::cuda
