#include "compile.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "choose_body.h"
#include "choose_kernel.h"
#include "sole_producers.h"
#include "table.h"

namespace ferrule::cpu {
namespace {

bool is_elementwise(const fe_node& node, std::string_view op) {
  return node.body == nullptr && find_elementwise(op) != nullptr;
}
// Whether a node casts block dtypes, whose elements cannot be computed one by one.
bool casts_blocks(const fe_graph_view& view, const fe_node& node) {
  const auto is_of_blocks = [&view](uint32_t value) { return is_block(dtype_from(view.values[value]->dtype)); };
  return is_of_blocks(node.outputs[0]) || (node.input_count > 0 && is_of_blocks(node.inputs[0]));
}

Choice choose_of_any_revision(const fe_graph_view& view, const fe_node& node, std::unique_ptr<Step>* producer) {
  const char* name = sdk::host->op_name(node.op);
  const std::string_view op = name ? name : "";
  Choice refused;
  refused.support.supported = false;
  try {
    if (op == "fused" || (is_elementwise(node, op) && !casts_blocks(view, node))) return choose_body(view, node);
    return choose_kernel(view, node, op, producer);
  } catch (const sdk::Error& error) {
    if (error.code() != FE_UNSUPPORTED) throw;
    refused.support.reason = error.what();
  }
  return refused;
}

class Executable : public sdk::Executable {
 public:
  std::vector<std::unique_ptr<Step>> steps;
  uint64_t scratch = 0;

  uint64_t scratch_size() override { return is_little() ? 0 : scratch; }

  void execute(sdk::Queue*, const fe_execution& execution) override {
    const Memory memory(execution);
    if (!is_little()) return run(memory, memory.scratch());
    alignas(64) char little[little_scratch];
    run(memory, little);
  }

 private:
  bool is_little() const { return scratch <= little_scratch; }
  void run(const Memory& memory, char* scratch_memory) const {
    sdk::run_in_order(memory.execution(), static_cast<uint32_t>(steps.size()),
                      [&](uint32_t node) { steps[node]->run(memory, scratch_memory); });
  }
};

}  // namespace

Choice choose(const fe_graph_view& view, uint32_t index, std::unique_ptr<Step>* producer) {
  Choice choice = choose_of_any_revision(view, *view.nodes[index], producer);
  choice.support = sdk::unless_too_young(std::move(choice.support), sdk::Node(view, index));
  return choice;
}

std::unique_ptr<sdk::Executable> compile(const fe_graph_view& view) {
  auto executable = std::make_unique<Executable>();
  const std::vector<std::optional<uint32_t>> producers = sole_producers(view);
  for (uint32_t i = 0; i < view.node_count; ++i) {
    Choice choice = choose(view, i, producers[i] ? &executable->steps[*producers[i]] : nullptr);
    if (!choice.support.supported)
      throw sdk::Error(FE_UNSUPPORTED,
                       std::string(sdk::host->op_name(view.nodes[i]->op)) + ": " + choice.support.reason);
    executable->scratch = std::max(executable->scratch, choice.step->scratch_size());
    executable->steps.push_back(std::move(choice.step));
  }
  return executable;
}

}  // namespace ferrule::cpu
