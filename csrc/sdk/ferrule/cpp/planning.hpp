// Planning nodes by a table of kernels, and graphs, for modules that compile a graph to launches of kernels.
#ifndef FERRULE_CPP_PLANNING_HPP
#define FERRULE_CPP_PLANNING_HPP

#include <ferrule/cpp/check_op.hpp>
#include <ferrule/cpp/device.hpp>
#include <ferrule/cpp/storage_writers.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace ferrule::sdk {

// A node with the indices of its operands in the view. Only a node of a whole graph knows the nodes before it.
class PlannedNode : public Node {
 public:
  PlannedNode(const fe_graph_view& view, uint32_t index, const StorageWriters* writers = nullptr)
      : Node(view, index), writers_(writers) {}
  uint32_t input_value(uint32_t i) const { return view().nodes[index()]->inputs[i]; }
  uint32_t output_value(uint32_t i) const { return view().nodes[index()]->outputs[i]; }
  bool is_scalar_input(uint32_t i) const {
    return view().storages[view().values[input_value(i)]->storage]->kind == FE_STORAGE_SCALAR;
  }
  // Null if the node is planned only to find out whether it is supported.
  const StorageWriters* writers() const { return writers_; }

 private:
  const StorageWriters* writers_;
};

// The plan of a node. `Launch` is the module's: a kernel, its grid and its operands.
template <class Launch>
struct NodePlan {
  Support support = {};
  std::vector<Launch> launches = {};
  uint64_t scratch = 0;  // bytes that the node's launches share; freed after the node
  // Inputs, by number, that no launch reads: the launches read the operands of the nodes that write them. Such a node
  // is left out if nothing else reads its results.
  std::vector<uint32_t> unread = {};
};

// The reason why no kernel but those with an epilogue takes a node, whatever its op.
inline std::optional<std::string> general_refusal(const Node& node) {
  if (node.body() != nullptr) return "it does not run the ops that are fused to it";
  return std::nullopt;
}

// A row of the table that ferrule_kernel_table generates from the KERNEL lines of a module's sources.
template <class Plan, class Capabilities>
struct PlannedKernel {
  std::string_view op;  // of csrc/ops
  // Used both to decide whether a node is supported and to plan it, so that the two cannot disagree. May refuse by
  // throwing FE_UNSUPPORTED.
  Plan (*plan)(const PlannedNode& node, const Capabilities& capabilities);
};

// The plan of a node by the kernel of its op in the module's table. An elementwise op without a kernel of its own is
// planned by the kernel of `fused`, as a body of one instruction. The plan's `support` is a refusal if no kernel takes
// the node.
template <class Plan, class Capabilities>
Plan plan_by_table(const PlannedNode& node, const Capabilities& capabilities,
                   const PlannedKernel<Plan, Capabilities>* (*find_kernel)(std::string_view op)) {
  const auto is_elementwise = [&] {
    const OpInfo* const info = checks::find_op(node.id());
    return info != nullptr && info->kind == OpKind::elementwise;
  };
  Plan plan;
  const auto refuse = [&](const std::string& reason) { plan.support = {.supported = false, .reason = reason}; };
  try {
    const PlannedKernel<Plan, Capabilities>* kernel = find_kernel(node.op());
    if (kernel == nullptr && is_elementwise()) kernel = find_kernel("fused");
    if (kernel != nullptr)
      plan = kernel->plan(node, capabilities);
    else
      refuse("there is no kernel for it");
  } catch (const Error& error) {
    if (error.code() != FE_UNSUPPORTED) throw;
    refuse(error.what());
  }
  return plan;
}

// Plans the nodes of a graph, and calls `add(node, plan)` in order for those that are needed, which may change the
// plan. Returns the bytes of scratch memory of the plan that needs most. Throws FE_UNSUPPORTED, with the op's name, for
// a node that `plan_of` refuses.
template <class PlanOf, class Add>
uint64_t plan_graph(const fe_graph_view& view, const PlanOf& plan_of, const Add& add) {
  const StorageWriters writers(view);
  std::vector<std::invoke_result_t<PlanOf, const PlannedNode&>> plans;
  plans.reserve(view.node_count);
  for (uint32_t i = 0; i < view.node_count; ++i) {
    const PlannedNode node(view, i, &writers);
    const Support& support = plans.emplace_back(plan_of(node)).support;
    if (!support.supported) throw Error(FE_UNSUPPORTED, std::string(node.op()) + ": " + support.reason);
  }
  const std::vector<bool> needed = needed_nodes(view, plans);
  uint64_t scratch = 0;
  for (uint32_t i = 0; i < view.node_count; ++i) {
    if (!needed[i]) continue;
    add(PlannedNode(view, i), plans[i]);
    scratch = std::max(scratch, plans[i].scratch);
  }
  return scratch;
}

// An executable of a module's program, which lives until its last execution is done.
template <class Program, class ModuleQueue>
class ProgramExecutable final : public Executable {
 public:
  explicit ProgramExecutable(std::shared_ptr<Program> program) : program_(std::move(program)) {}
  uint64_t scratch_size() override { return program_->scratch_size(); }
  void execute(Queue* queue, const fe_execution& execution) override {
    program_->run(static_cast<ModuleQueue&>(*queue), execution);
  }

 private:
  std::shared_ptr<Program> program_;
};

}  // namespace ferrule::sdk

// KERNEL(take, plan_take): `plan_take` plans the op `take`. `Kernel` is the module's PlannedKernel. The line only
// defines a constant; the table lists it.
#define KERNEL(op_name, function)       \
  extern const Kernel kernel_##op_name; \
  constexpr Kernel kernel_##op_name = {.op = #op_name, .plan = function};

#endif
