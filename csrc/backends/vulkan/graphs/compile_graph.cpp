#include "graphs/compile_graph.h"

#include <ferrule/cpp/hazards.hpp>

#include <cstddef>

#include "graphs/plan.h"
#include "graphs/graph_program.h"

namespace ferrule::vulkan {
namespace {

class Executable final : public sdk::Executable {
 public:
  Executable(std::shared_ptr<Program> program, uint64_t scratch) : program_(std::move(program)), scratch_(scratch) {}
  uint64_t scratch_size() override { return scratch_; }
  void execute(sdk::Queue* queue, const fe_execution& execution) override {
    program_->run(static_cast<Queue&>(*queue), execution);
  }

 private:
  std::shared_ptr<Program> program_;
  uint64_t scratch_;
};

constexpr std::size_t parameter_alignment = 16;

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
  std::vector<Step> steps;
  std::vector<std::byte> parameters;
  std::vector<std::string> names(view.value_count);
  uint64_t scratch = 0;
  sdk::Hazards hazards(view);
  for (uint32_t i = 0; i < view.node_count; ++i) {
    const PlannedNode node(view, i);
    const Plan plan = plan_of(node, context->capabilities());
    if (!plan.support.supported) throw sdk::Error(FE_UNSUPPORTED, std::string(node.op()) + ": " + plan.support.reason);
    for (uint32_t k = 0; k < node.output_count(); ++k) names[node.output_value(k)] = node.op();
    scratch = std::max(scratch, plan.scratch);
    for (const Dispatch& dispatch : plan.dispatches) {
      parameters.resize((parameters.size() + parameter_alignment - 1) / parameter_alignment * parameter_alignment);
      steps.push_back({.pipeline = pipeline_of(*context, node.op(), dispatch),
                       .groups = dispatch.groups,
                       .parameters = parameters.size(),
                       .barrier = hazards.is_barrier_due(dispatch.reads, dispatch.writes),
                       .node = i});
      parameters.insert(parameters.end(), dispatch.parameters.begin(), dispatch.parameters.end());
    }
  }
  context->pipelines().save();
  auto program = std::make_shared<Program>(std::move(context), view, std::move(steps), parameters, std::move(names));
  return std::make_unique<Executable>(std::move(program), scratch);
}

}  // namespace ferrule::vulkan
