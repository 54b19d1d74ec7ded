#include "core/executor/executable.h"

#include "core/compiler/owned_graph_view.h"
#include "core/copy/transfer.h"
#include "core/error.h"
#include "core/executor/executable_parts.h"
#include "core/executor/execution_counters.h"
#include "core/executor/run.h"
#include "core/memory/queue.h"
#include "core/memory/storage.h"
#include "core/registry/device.h"
#include "core/sync/fork.h"

#include <fmt/format.h>

#include <algorithm>

namespace ferrule {

namespace {

// Allocates the memory that a run needs besides its arrays once now, so that a lack of it is reported before anything
// runs. On devices with queues it is kept for all runs; else each run takes it from the allocator's cache.
void reserve(CompiledSegment& compiled) {
  const std::shared_ptr<Device>& device = compiled.device_use.device();
  const DeviceQueue* const queue = queue_of(*device, FE_QUEUE_COMPUTE);
  const auto take = [&](uint64_t size, std::unique_ptr<KeptMemory>& kept) -> std::shared_ptr<Storage> {
    if (size == 0) return nullptr;
    if (!queue) return Storage::allocate(device, size);
    kept = std::make_unique<KeptMemory>(device, size, queue);
    return kept->get();
  };
  const auto workspace = take(compiled.workspace_size, compiled.workspace);
  const auto scratch = take(compiled.scratch_size, compiled.scratch);
}

// The ops of a segment, such as "add", or "add, exp and 3 more".
std::string what_is_computed(const Segment& segment) {
  constexpr std::size_t shown = 3;
  std::string text;
  for (std::size_t i = 0; i < segment.nodes.size() && i < shown; ++i) {
    if (i > 0) text += ", ";
    text += segment.nodes[i].op();
  }
  if (segment.nodes.size() > shown) text += fmt::format(" and {} more", segment.nodes.size() - shown);
  return text;
}

std::vector<bool> written_bindings(const Segment& segment) {
  std::vector<bool> is_written(segment.bindings.size(), false);
  const fe_graph_view& view = graph_view_of(*segment.view);
  for (uint32_t i = 0; i < view.storage_count; ++i)
    if (view.storages[i]->kind == FE_STORAGE_OUTPUT) is_written[view.storages[i]->binding] = true;
  return is_written;
}

// Constants that a segment reads on another device are transferred once, not in each run.
void transfer_constants(ExecutableParts& parts) {
  const Plan& plan = parts.plan;
  parts.transferred_constants.resize(plan.slots.size());
  parts.is_transfer_target.assign(plan.slots.size(), false);
  for (const auto& step : plan.steps) {
    const auto* transfer = std::get_if<Transfer>(&step);
    if (!transfer) continue;
    parts.is_transfer_target[transfer->to] = true;
    const Slot& from = plan.slots[transfer->from];
    const Slot& to = plan.slots[transfer->to];
    if (from.kind != Slot::Kind::constant || from.prepared || to.kind != Slot::Kind::transferred) continue;
    parts.transferred_constants[transfer->to] =
        copy_to({from.type, plan.constants[from.index].data}, to.device->shared_from_this());
    ++execution_counters().transfers;
  }
}

}  // namespace

Executable::Executable(std::shared_ptr<ExecutableParts> parts) : parts_(std::move(parts)) {}
Executable::~Executable() = default;
const Plan& Executable::plan() const { return parts_->plan; }

std::shared_ptr<Executable> Executable::create(Plan plan, const std::string& description, bool guard) {
  auto parts = std::make_shared<ExecutableParts>(guard);
  parts->plan = std::move(plan);
  parts->segments.resize(parts->plan.steps.size());
  for (std::size_t i = 0; i < parts->plan.steps.size(); ++i) {
    const auto* segment = std::get_if<Segment>(&parts->plan.steps[i]);
    if (!segment) continue;
    CompiledSegment& compiled = parts->segments[i];
    compiled.device_use = segment->device->use(description);
    const fe_backend& table = segment->device->table();
    TraceSpan span(FE_TRACE_PASS, "compile kernels");
    span.describe([&](TraceLabel& label) { label.device = segment->device->name(); });
    const HoldsForks holds_forks;  // it may take a lock of the module, as supports() may
    segment->device->check(
        table.compile(segment->device->open(), &graph_view_of(*segment->view), &compiled.executable));
    if (table.executable_scratch_size) compiled.scratch_size = table.executable_scratch_size(compiled.executable);
    compiled.workspace_size = graph_view_of(*segment->view).workspace_size;
    reserve(compiled);
    compiled.what = what_is_computed(*segment);
    compiled.is_written = written_bindings(*segment);
  }
  parts->devices.push_back(parts->plan.home->shared_from_this());
  for (const Slot& slot : parts->plan.slots) parts->devices.push_back(slot.device->shared_from_this());
  transfer_constants(*parts);
  ++execution_counters().compiles;
  return std::shared_ptr<Executable>(new Executable(std::move(parts)));
}

std::vector<StridedArray> Executable::compute(std::span<const StridedArray> inputs, std::span<const fe_scalar> scalars,
                                              std::span<const OutputMemory> outputs, RunOptions options) {
  ++execution_counters().executions;
  Run run(*parts_, inputs, scalars, outputs, options);
  return run.compute();
}

}  // namespace ferrule
