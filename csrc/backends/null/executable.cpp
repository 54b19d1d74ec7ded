#include "executable.h"

#include <chrono>
#include <filesystem>
#include <thread>

namespace ferrule::null {

Executable::Executable(const fe_graph_view& view, std::shared_ptr<Shared> shared,
                       const std::shared_ptr<Computer>& computer)
    : binding_count_(view.binding_count),
      scalar_count_(view.scalar_count),
      offset_count_(view.offset_count),
      node_count_(view.node_count),
      shared_(std::move(shared)) {
  for (uint32_t i = 0; i < view.storage_count; ++i) {
    const fe_storage& storage = *view.storages[i];
    if (storage.kind == FE_STORAGE_OUTPUT) outputs_.push_back({storage.binding, storage.size});
  }
  if (computer) program_ = std::make_shared<const Computer::Program>(computer, view);
}

void Executable::execute(sdk::Queue* queue, const fe_execution& execution) {
  Faults& faults = shared_->faults;
  const bool loses = faults.losses.is_due(), fails = faults.executions.is_due();
  const uint64_t duration_ns = shared_->pace.latency_ns + shared_->pace.execution_ns;
  const auto tell = [trace = execution.trace, argument = execution.trace_argument, nodes = node_count_,
                     duration_ns](const Work& work) {
    const uint64_t begin = work.end_ns - duration_ns;
    for (uint32_t node = 0; trace != nullptr && node < nodes; ++node)
      trace(argument, node, begin + duration_ns * node / nodes, begin + duration_ns * (node + 1) / nodes);
  };
  const auto effect = [loses, fails, tell, keeps = shared_,
                       compute = program_ ? computation(execution) : zeros(execution)](const Work& work) {
    const std::filesystem::path& held_while = keeps->pace.held_while;
    while (!held_while.empty() && std::filesystem::exists(held_while))
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (loses)
      throw sdk::Error(FE_DEVICE_LOST,
                       "null: the device was lost at execution " + std::to_string(keeps->faults.losses.at()));
    if (fails) throw sdk::Error(keeps->faults.executions.error());
    compute(work);
    tell(work);
  };
  static_cast<Queue&>(*queue).give(duration_ns, effect, shared_->pace.delay);
}

// Reads the bindings now, because their list is only valid during the call; the effect writes later.
Effect Executable::zeros(const fe_execution& execution) const {
  std::vector<std::pair<char*, uint64_t>> written;
  for (const Output& output : outputs_) {
    const fe_binding* const binding = fe_binding_at(&execution, output.binding);
    written.emplace_back(memory_of(binding->buffer).bytes() + binding->offset, output.size);
  }
  return [written = std::move(written)](const Work&) {
    for (const auto& [bytes, size] : written) std::memset(bytes, 0, size);
  };
}

Effect Executable::computation(const fe_execution& given) const {
  struct Kept {
    std::vector<fe_binding> bindings;
    std::vector<fe_scalar> scalars;
    std::vector<int64_t> offsets;
    fe_execution execution;
  };
  const auto kept = std::make_shared<Kept>();
  for (uint32_t i = 0; i < binding_count_; ++i) kept->bindings.push_back(for_computer(*fe_binding_at(&given, i)));
  if (scalar_count_ > 0) kept->scalars.assign(given.scalars, given.scalars + scalar_count_);
  if (offset_count_ > 0) kept->offsets.assign(given.offsets, given.offsets + offset_count_);
  kept->execution = given;
  kept->execution.bindings = kept->bindings.data();
  kept->execution.scalars = kept->scalars.data();
  kept->execution.offsets = kept->offsets.data();
  if (given.workspace) kept->execution.workspace = memory_of(given.workspace).borrowed();
  if (given.scratch) kept->execution.scratch = memory_of(given.scratch).borrowed();
  kept->execution.trace = nullptr;                                            // the device's clock reports times
  if (shared_->pace.doing != Doing::at_once) kept->execution.poll = nullptr;  // only valid during this call
  return [kept, program = program_](const Work&) { program->execute(kept->execution); };
}

}  // namespace ferrule::null
