#include "choose_body.h"

#include <ferrule/cpp/body.hpp>

#include "table.h"

namespace ferrule::cpu {
namespace {

const void* keep_attributes(Attributes& attributes, std::string_view op, const void* from) {
  const Kernel* kernel = find_elementwise(op);
  return kernel == nullptr ? nullptr : attributes.keep(*kernel, from);
}

}  // namespace

void append_body(const fe_body& from, DType first, Attributes& attributes, Body& to) {
  std::vector<uint32_t> values;
  values.reserve(from.input_count);
  for (uint32_t i = 0; i < from.input_count; ++i)
    values.push_back(to.input(i == 0 ? first : dtype_from(from.input_dtypes[i])));
  if (from.input_count > 0)
    values[0] = to.apply("astype", std::span(values.data(), 1), dtype_from(from.input_dtypes[0]), nullptr);
  values = sdk::values_of(from, std::move(values), [&](const fe_instruction& one, std::span<const uint32_t> in) {
    const std::string_view op = sdk::host->op_name(one.op);
    return to.apply(op, in, dtype_from(one.dtype), keep_attributes(attributes, op, one.attributes), one.output);
  });
  for (uint32_t i = 0; i < from.output_count; ++i) to.output(values.at(from.outputs[i]));
}

Choice choose_body(const fe_graph_view& view, const fe_node& node) {
  auto step = std::make_unique<BodyStep>();
  std::vector<Operand> inputs;
  for (uint32_t i = 0; i < node.input_count; ++i) {
    inputs.push_back(operand_of(view, node.inputs[i]));
    step->inputs.emplace_back(view, node.inputs[i]);
  }
  for (uint32_t i = 0; i < node.output_count; ++i) step->outputs.emplace_back(view, node.outputs[i]);
  const Operand output = operand_of(view, node.outputs[0]);
  if (node.body != nullptr) {
    const DType first = node.body->input_count > 0 ? dtype_from(node.body->input_dtypes[0]) : DType::count;
    append_body(*node.body, first, step->attributes, step->body);
  } else {
    std::vector<uint32_t> in;
    in.reserve(inputs.size());
    for (const Operand& operand : inputs) in.push_back(step->body.input(operand.dtype));
    const std::string_view op = sdk::host->op_name(node.op);
    const void* const attributes = keep_attributes(step->attributes, op, node.attributes);
    for (uint32_t i = 0; i < node.output_count; ++i)
      step->body.output(step->body.apply(op, in, operand_of(view, node.outputs[i]).dtype, attributes, i));
  }
  step->body.finish(shape_of(output), inputs, false);
  step->local = local_memory(step->body.local_scratch());
  Choice choice;
  choice.support.kernel = std::string(node.body ? "fused" : sdk::host->op_name(node.op)) + " (blocks)";
  choice.step = std::move(step);
  return choice;
}

}  // namespace ferrule::cpu
