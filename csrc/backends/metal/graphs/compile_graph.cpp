#include "graphs/compile_graph.h"

#include <ferrule/cpp/hazards.hpp>
#include <ferrule/cpp/storage_writers.hpp>

#include "graphs/program.h"

namespace ferrule::metal {
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

static_assert(scratch_value == sdk::Hazards::scratch);

Plan plan_of(const PlannedNode& node, const Capabilities& capabilities) {
  Plan plan = sdk::plan_by_table(node, capabilities, find_kernel);
  for (const Dispatch& dispatch : plan.dispatches) {
    if (dispatch.reads.size() + dispatch.writes.size() > Dispatch::most_values)
      return refusal("its kernel has more than " + std::to_string(Dispatch::most_values) + " arrays");
    if (dispatch.shuffles && !capabilities.has_simdgroup_shuffles)
      return refusal("the lanes of the GPU's simdgroups exchange no values");
  }
  plan.support = sdk::unless_too_young(std::move(plan.support), node);
  return plan;
}

std::unique_ptr<sdk::Executable> compile_graph(std::shared_ptr<OpenDevice> device, const fe_graph_view& view) {
  const sdk::StorageWriters writers(view);
  std::vector<Plan> plans;
  for (uint32_t i = 0; i < view.node_count; ++i) {
    const PlannedNode node(view, i, &writers);
    const Plan& plan = plans.emplace_back(plan_of(node, device->physical().capabilities));
    if (!plan.support.supported) throw sdk::Error(FE_UNSUPPORTED, std::string(node.op()) + ": " + plan.support.reason);
  }
  const std::vector<bool> needed = sdk::needed_nodes(view, plans);
  std::vector<Step> steps;
  std::vector<std::byte> parameters;
  std::vector<std::string> names(view.value_count);
  uint64_t scratch = 0;
  sdk::Hazards hazards(view);
  for (uint32_t i = 0; i < view.node_count; ++i) {
    if (!needed[i]) continue;
    const PlannedNode node(view, i);
    const Plan& plan = plans[i];
    for (uint32_t k = 0; k < node.output_count(); ++k) names[node.output_value(k)] = node.op();
    scratch = std::max(scratch, plan.scratch);
    for (const Dispatch& dispatch : plan.dispatches) {
      constexpr uint64_t unit = Program::parameter_alignment;
      parameters.resize((parameters.size() + unit - 1) / unit * unit);
      std::vector<uint32_t> values = dispatch.reads;
      values.insert(values.end(), dispatch.writes.begin(), dispatch.writes.end());
      steps.push_back({.pipeline = pipeline_of(*device, node.op(), dispatch),
                       .threads = dispatch.kernel.threads,
                       .groups = dispatch.groups,
                       .parameters = parameters.size(),
                       .values = std::move(values),
                       .barrier = hazards.is_barrier_due(dispatch.reads, dispatch.writes),
                       .node = i});
      parameters.insert(parameters.end(), dispatch.parameters.begin(), dispatch.parameters.end());
    }
  }
  device->pipelines().save();
  auto program = std::make_shared<Program>(std::move(device), view, std::move(steps), parameters, std::move(names));
  return std::make_unique<Executable>(std::move(program), scratch);
}

}  // namespace ferrule::metal
