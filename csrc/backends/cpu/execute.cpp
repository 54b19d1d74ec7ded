#include "compile.h"

namespace ferrule::cpu {
namespace {

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
    const fe_execution& execution = memory.execution();
    for (uint32_t node = 0; node < steps.size(); ++node) {
      if (execution.poll != nullptr) sdk::check(execution.poll(execution.poll_argument));
      sdk::traced(execution, node, [&] { steps[node]->run(memory, scratch_memory); });
    }
  }
};

}  // namespace

std::unique_ptr<sdk::Executable> compile(const fe_graph_view& view) {
  auto executable = std::make_unique<Executable>();
  for (uint32_t i = 0; i < view.node_count; ++i) {
    Choice choice = choose(view, i);
    if (!choice.support.supported)
      throw sdk::Error(FE_UNSUPPORTED,
                       std::string(sdk::host->op_name(view.nodes[i]->op)) + ": " + choice.support.reason);
    executable->scratch = std::max(executable->scratch, choice.step->scratch_size());
    executable->steps.push_back(std::move(choice.step));
  }
  return executable;
}

}  // namespace ferrule::cpu
