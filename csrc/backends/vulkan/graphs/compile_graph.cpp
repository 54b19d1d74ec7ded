#include "graphs/compile_graph.h"

#include <cstddef>

#include "graphs/plan.h"
#include "graphs/graph_program.h"

namespace ferrule::vulkan {
namespace {

constexpr size_t parameter_alignment = 16;

// A driver's error names neither the shader nor the op; this adds them.
PipelinePointer pipeline_of(OpenDevice& context, std::string_view op, const Dispatch& dispatch) {
  Faults& faults = context.faults();
  try {
    if (++faults.shaders == faults.shader_fails_at) check(VK_ERROR_UNKNOWN, "vkCreateComputePipelines");
    return context.pipelines().get(dispatch);
  } catch (const sdk::Error& error) {
    throw sdk::Error(error.code(), std::string(op) + ": the shader " + dispatch.shader + " cannot be compiled for " +
                                       context.physical().description.name + ": " + error.what());
  }
}

}  // namespace

Plan plan_of(const PlannedNode& node, const Capabilities& capabilities) {
  Plan plan = sdk::plan_by_table(node, capabilities, find_kernel);
  plan.support = sdk::unless_too_young(std::move(plan.support), node);
  return plan;
}

sdk::Support supports_node(const Context& context, const PlannedNode& node) {
  return plan_of(node, context.capabilities()).support;
}

std::unique_ptr<sdk::Executable> compile_graph(std::shared_ptr<OpenDevice> context, const fe_graph_view& view) {
  auto graph = sdk::dispatched<Step>(
      view, parameter_alignment, [&](const PlannedNode& node) { return plan_of(node, context->capabilities()); },
      [&](const PlannedNode& node, const Dispatch& dispatch) {
        return Step{{}, pipeline_of(*context, node.op(), dispatch)};
      });
  context->pipelines().save();
  return std::make_unique<sdk::ProgramExecutable<Program, Queue>>(
      std::make_shared<Program>(std::move(context), view, std::move(graph)));
}

}  // namespace ferrule::vulkan
