#include "graphs/compile_graph.h"

#include <algorithm>
#include <optional>

#include "graphs/elementwise_text.h"
#include "graphs/product_calls.h"
#include "graphs/program.h"

namespace ferrule::cuda {
namespace {

// The device's error names neither the kernel nor the op; this adds them.
LoadedKernel loaded(OpenDevice& device, std::string_view op, const Launch& launch) {
  try {
    return device.kernel(launch.kernel, launch.shared_memory);
  } catch (const sdk::Error& error) {
    throw sdk::Error(error.code(),
                     std::string(op) + ": the kernel " + launch.kernel + " cannot be loaded: " + error.what());
  }
}

// A kernel that is generated for a program, with `launch` changed to launch it. None if the module's own is better.
// Compiling takes tenths of a second: it pays off for many elements, where an execution takes longer than a launch, and
// for several instructions, which the module's kernel decodes.
std::optional<LoadedKernel> generated_kernel(const OpenDevice& device, GeneratedKernels& generated, Launch& launch) {
  if (!launch.is_program) return std::nullopt;
  const auto least = static_cast<uint64_t>(device.settings().generate_from);
  const ProgramSize size = program_size(launch);
  if (size.count < least || (size.instructions < 2 && least != 0) || !generated.can_compile(false)) return std::nullopt;
  const auto text = elementwise_text(launch, GeneratedKernels::kernel_name);
  if (!text || !generated.can_compile(text->has_math)) return std::nullopt;
  auto kernel = generated.get(text->text);
  if (kernel) launch = generated_launch(std::move(launch), *text);
  return kernel;
}

}  // namespace

Plan plan_of(const PlannedNode& node, const Capabilities& capabilities) {
  Plan plan = sdk::plan_by_table(node, capabilities, find_kernel);
  if (plan.support.supported && plan.support.kernel.empty() && !plan.launches.empty())
    plan.support.kernel = plan.launches.back().kernel;
  plan.support = sdk::unless_too_young(std::move(plan.support), node);
  return plan;
}

std::unique_ptr<sdk::Executable> compile_graph(std::shared_ptr<OpenDevice> device, GeneratedKernels& generated,
                                               LibraryProducts& products, const fe_graph_view& view) {
  const auto use = device->use();
  std::vector<Step> steps;
  bool has_generated = false;
  const auto plan = [&](const PlannedNode& node) { return plan_of(node, device->capabilities()); };
  const uint64_t scratch = sdk::plan_graph(view, plan, [&](const PlannedNode& node, Plan& plan) {
    if (auto call = product_call_of(node, plan, products))
      steps.push_back({.kernel = {}, .launch = std::move(*call), .node = node.index()});
    for (Launch& launch : plan.launches) {
      std::optional<LoadedKernel> kernel = generated_kernel(*device, generated, launch);
      if (kernel) has_generated = true;
      if (!kernel) kernel = loaded(*device, node.op(), launch);
      steps.push_back({.kernel = std::move(*kernel), .launch = std::move(launch), .node = node.index()});
    }
  });
  if (has_generated) generated.save();
  return std::make_unique<sdk::ProgramExecutable<Program, Queue>>(
      std::make_shared<Program>(std::move(device), view, std::move(steps), scratch));
}

}  // namespace ferrule::cuda
