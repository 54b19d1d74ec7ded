#include "graphs/compile_graph.h"

#include "graphs/program.h"

namespace ferrule::metal {
namespace {

// Metal's compiler names neither the op nor the device; this adds them.
PipelinePointer pipeline_of(OpenDevice& device, std::string_view op, const Dispatch& dispatch) {
  Faults& faults = device.faults();
  try {
    if (++faults.libraries == faults.library_fails_at)
      throw sdk::Error(FE_INTERNAL, "the kernel " + dispatch.kernel.function + " cannot be compiled, as requested");
    return device.pipelines().get(dispatch.kernel);
  } catch (const sdk::Error& error) {
    throw sdk::Error(error.code(), std::string(op) + ": " + error.what());
  }
}

}  // namespace

Plan plan_of(const PlannedNode& node, const Capabilities& capabilities) {
  Plan plan = sdk::plan_by_table(node, capabilities, find_kernel);
  for (const Dispatch& dispatch : plan.launches) {
    if (dispatch.reads.size() + dispatch.writes.size() > Dispatch::most_values)
      return refusal("its kernel has more than " + std::to_string(Dispatch::most_values) + " arrays");
    if (dispatch.shuffles && !capabilities.has_simdgroup_shuffles)
      return refusal("the lanes of the GPU's simdgroups exchange no values");
  }
  plan.support = sdk::unless_too_young(std::move(plan.support), node);
  return plan;
}

std::unique_ptr<sdk::Executable> compile_graph(std::shared_ptr<OpenDevice> device, const fe_graph_view& view) {
  auto graph = sdk::dispatched<Step>(
      view, Program::parameter_alignment,
      [&](const PlannedNode& node) { return plan_of(node, device->physical().capabilities); },
      [&](const PlannedNode& node, const Dispatch& dispatch) {
        Step step{{}, pipeline_of(*device, node.op(), dispatch), dispatch.kernel.threads, dispatch.reads};
        step.values.insert(step.values.end(), dispatch.writes.begin(), dispatch.writes.end());
        return step;
      });
  device->pipelines().save();
  return std::make_unique<sdk::ProgramExecutable<Program, Queue>>(
      std::make_shared<Program>(std::move(device), view, std::move(graph)));
}

}  // namespace ferrule::metal
