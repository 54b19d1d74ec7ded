#include "graphs/compile_graph.h"

#include <ferrule/cpp/check_op.hpp>

#include "graphs/program.h"

namespace ferrule::cuda {
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

Plan planned(const PlannedNode& node, const Capabilities& capabilities) {
  const Kernel* const kernel = find_kernel(node.op());
  if (kernel != nullptr) return kernel->plan(node, capabilities);
  const sdk::OpInfo* const info = sdk::checks::find_op(node.id());
  // An elementwise op without a kernel of its own is planned as a body of one instruction.
  if (info != nullptr && info->kind == sdk::OpKind::elementwise) return find_kernel("fused")->plan(node, capabilities);
  return refusal("there is no kernel for it");
}

// The driver's error names neither the kernel nor the op; this adds them.
const LoadedKernel& loaded(OpenDevice& device, std::string_view op, const Launch& launch) {
  try {
    return device.kernels().get(launch.kernel, launch.shared_memory);
  } catch (const sdk::Error& error) {
    throw sdk::Error(error.code(), std::string(op) + ": the kernel " + launch.kernel + " cannot be loaded on " +
                                       device.name() + ": " + error.what());
  }
}

}  // namespace

Plan plan_of(const PlannedNode& node, const Capabilities& capabilities) {
  Plan plan;
  try {
    plan = planned(node, capabilities);
  } catch (const sdk::Error& error) {
    // Kernels may also refuse by throwing, when they write programs or count blocks.
    if (error.code() != FE_UNSUPPORTED) throw;
    return refusal(error.what());
  }
  if (plan.support.supported && plan.support.kernel.empty() && !plan.launches.empty())
    plan.support.kernel = plan.launches.back().kernel;
  plan.support = sdk::unless_too_young(std::move(plan.support), node);
  return plan;
}

std::unique_ptr<sdk::Executable> compile_graph(std::shared_ptr<OpenDevice> device, const fe_graph_view& view) {
  device->use();
  std::vector<Step> steps;
  uint64_t scratch = 0;
  for (uint32_t i = 0; i < view.node_count; ++i) {
    const PlannedNode node(view, i);
    Plan plan = plan_of(node, device->capabilities());
    if (!plan.support.supported) throw sdk::Error(FE_UNSUPPORTED, std::string(node.op()) + ": " + plan.support.reason);
    scratch = std::max(scratch, plan.scratch);
    for (Launch& launch : plan.launches) {
      const LoadedKernel& kernel = loaded(*device, node.op(), launch);
      steps.push_back({.kernel = kernel, .launch = std::move(launch), .node = i});
    }
  }
  auto program = std::make_shared<Program>(std::move(device), view, std::move(steps));
  return std::make_unique<Executable>(std::move(program), scratch);
}

}  // namespace ferrule::cuda
