// A graph on a null device.
#pragma once

#include "memory.h"
#include "queue.h"

namespace ferrule::null {

// The same memory, for the module that computes.
inline fe_binding for_computer(const fe_binding& binding) {
  return {sizeof(fe_binding), memory_of(binding.buffer).borrowed(), binding.offset, binding.generation};
}

// Writes what the other module computes, or else zeros, so that what comes out does not depend on what lay there.
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
