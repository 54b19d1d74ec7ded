// A graph on a null device.
#pragma once

#include "memory.h"
#include "queue.h"

namespace ferrule::null {

// The same memory as a binding of the computing module.
inline fe_binding for_computer(const fe_binding& binding) {
  return {sizeof(fe_binding), memory_of(binding.buffer).borrowed(), binding.offset, binding.generation};
}

// Computes with the other module, or else writes zeros, so that outputs do not depend on earlier contents of memory.
class Executable final : public sdk::Executable {
 public:
  Executable(const fe_graph_view& view, std::shared_ptr<Shared> shared, const std::shared_ptr<Computer>& computer);
  uint64_t scratch_size() override { return program_ ? program_->scratch_size() : 0; }
  void execute(sdk::Queue* queue, const fe_execution& execution) override;

 private:
  Effect zeros(const fe_execution& execution) const;
  Effect computation(const fe_execution& execution) const;

  struct Output {
    uint32_t binding;
    uint64_t size;
  };
  const uint32_t binding_count_, scalar_count_, offset_count_, node_count_;
  std::vector<Output> outputs_;
  std::shared_ptr<Shared> shared_;
  std::shared_ptr<const Computer::Program> program_;
};

}  // namespace ferrule::null
