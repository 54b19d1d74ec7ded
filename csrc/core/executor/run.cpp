#include "core/executor/run.h"

#include "core/copy/transfer.h"
#include "core/error.h"
#include "core/executor/execution_counters.h"
#include "core/memory/queue.h"
#include "core/threads/pool.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

namespace ferrule {
namespace {

fe_error* poll_cancel(void* argument) {
  if (!static_cast<const Cancel*>(argument)->is_wanted()) return nullptr;
  return make_error(FE_CANCELLED, "the computation was cancelled");
}

// An array of `count` values: up to `few` on the stack, more on the heap.
template <class T, std::size_t few>
class SmallBuffer {
 public:
  explicit SmallBuffer(std::size_t count) {
    if (count > few) many_.resize(count);
  }
  T* data() { return many_.empty() ? few_.data() : many_.data(); }

 private:
  std::array<T, few> few_{};
  std::vector<T> many_;
};

}  // namespace

// The caller's value; the plan's default for scalars that were not given or that decompositions added.
const fe_scalar& Run::scalar(uint32_t number) const {
  return number < scalars_.size() ? scalars_[number] : plan_.scalar_defaults[number];
}

int64_t Run::evaluate_offset(const DynamicOffset& offset) const {
  int64_t elements = 0;
  for (const DynamicStart& start : offset) {
    const fe_scalar& bytes = scalar(start.scalar);
    int64_t place = 0;
    if (start.dtype == DType::int32) {
      int32_t narrow = 0;
      std::memcpy(&narrow, bytes.bytes, sizeof narrow);
      place = narrow;
    } else {
      std::memcpy(&place, bytes.bytes, sizeof place);
    }
    if (place < 0 || place > start.most)
      fail_argument("dynamic_slice: the start {} is not between 0 and {}: the slice exceeds its input", place,
                    start.most);
    elements += place * start.stride;
  }
  return elements;
}

Run::Run(const ExecutableParts& parts, std::span<const StridedArray> inputs, std::span<const fe_scalar> scalars,
         std::span<const OutputMemory> outputs, RunOptions options)
    : parts_(parts),
      plan_(parts.plan),
      inputs_(inputs),
      scalars_(scalars),
      out_memory_(outputs),
      options_(options),
      arrays_(parts.arrays),
      observer_(parts.observer) {}

std::vector<StridedArray> Run::compute() {
  try {
    return compute_results();
  } catch (...) {
    if (options_.donor) options_.donor->failed(has_executed_);
    throw;
  }
}

std::vector<StridedArray> Run::compute_results() {
  check_out_memory();
  bind_inputs();
  bind_slots();
  for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
    options_.cancel.check();
    if (const auto* transfer = std::get_if<Transfer>(&plan_.steps[i]))
      run_transfer(*transfer);
    else
      execute(std::get<Segment>(plan_.steps[i]), parts_.segments[i]);
  }
  observer_.finish();
  std::vector<StridedArray> results = collect_outputs();
  finish_reads_of_borrowed_memory();
  return results;
}

// The owner of borrowed memory may write to it when the call returns.
void Run::finish_reads_of_borrowed_memory() {
  for (const StridedArray& input : inputs_)
    if (may_change(input) && input.data.storage->has_uses()) input.data.storage->finish_uses();
}

// Memory that a module writes; it is between guard zones if the graph was compiled with them.
StridedArray Run::make_written_array(const std::shared_ptr<Device>& device, const TensorType& type, const char* what) {
  const auto bytes = static_cast<uint64_t>(byte_count(type));
  if (!observer_.guards() || bytes == 0) return new_array(device, type);
  const WrittenMemory memory = observer_.allocate(device, bytes, fmt::format("{} {}", what, to_string(type)),
                                                  static_cast<uint64_t>(block_bytes(type.dtype)));
  return {type, {memory.storage, elements_in(type.dtype, memory.offset), contiguous_strides(type.shape)}};
}

WrittenMemory Run::working_memory(const std::shared_ptr<Device>& device, KeptMemory* kept, uint64_t size,
                                  const char* what) {
  if (size == 0) return {};
  if (observer_.guards()) return observer_.allocate(device, size, what);
  return {kept ? kept->get() : Storage::allocate(device, size)};
}

void Run::bind_inputs() {
  if (inputs_.size() != plan_.inputs.size())
    fail_argument("the graph has {} inputs, but {} were given", plan_.inputs.size(), inputs_.size());
  auto& bound = arrays_->bound_inputs;
  bound.reserve(inputs_.size());
  arrays_->copied_inputs.reserve(inputs_.size());
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const StridedArray& input = inputs_[i];
    if (input.type != plan_.inputs[i])
      fail_argument("input {} is {}, but the graph was compiled for {}{}", i, to_string(input.type),
                    to_string(plan_.inputs[i]),
                    input.type.dtype == plan_.inputs[i].dtype ? "" : "; cast it with astype");
    bound.push_back(&input);
    if (!input.data.storage) continue;
    Device* const device = plan_.input_devices[i] ? plan_.input_devices[i] : plan_.home;
    const bool moves = input.data.storage->device().get() != device;
    const Strides& wanted = plan_.input_strides[i];
    if (!moves && is_same_layout(input.type.shape, input.data.strides, wanted)) continue;
    if (!is_contiguous(input.type.shape, wanted))
      fail_argument("input {} is on {} with strides {}, but the graph was compiled for {} with strides {}", i,
                    input.data.storage->device()->name(), to_string(input.data.strides), device->name(),
                    to_string(wanted));
    arrays_->copied_inputs.push_back(copy_to(input, device->shared_from_this()));
    bound.back() = &arrays_->copied_inputs.back();
  }
}

void Run::bind_slots() {
  arrays_->slots.resize(plan_.slots.size());
  arrays_->written_in_place.assign(plan_.outputs.size(), false);
  for (std::size_t i = 0; i < plan_.slots.size(); ++i) {
    const Slot& slot = plan_.slots[i];
    StridedArray& bound = arrays_->slots[i];
    switch (slot.kind) {
      case Slot::Kind::input:
        bound = *arrays_->bound_inputs[slot.index];
        break;
      case Slot::Kind::constant:
        if (slot.prepared)
          bound = {slot.type, {slot.prepared, 0, contiguous_strides(slot.type.shape)}};
        else
          bound = {slot.type, plan_.constants[slot.index].data};
        break;
      case Slot::Kind::output:
        break;
      case Slot::Kind::transferred:
        bound = parts_.transferred_constants[i];  // others are made when they are written
        break;
    }
  }
  for (std::size_t i = 0; i < plan_.slots.size(); ++i)
    if (plan_.slots[i].kind == Slot::Kind::output && !parts_.is_transfer_target[i])
      bind_output(plan_.slots[i], arrays_->slots[i]);
}

void Run::run_transfer(const Transfer& transfer) {
  StridedArray& bound = arrays_->slots[transfer.to];
  if (bound.data.storage) return;  // a constant that was copied when the executable was made
  const Slot& to = plan_.slots[transfer.to];
  StridedArray from = arrays_->slots[transfer.from];
  // Computed values are contiguous; as an output, one may have another shape.
  if (from.type != to.type) from.data.strides = contiguous_strides(to.type.shape);
  from.type = to.type;
  bound = copy_to(from, to.device->shared_from_this());
  ++execution_counters().transfers;
}

void Run::execute(const Segment& segment, const CompiledSegment& compiled) {
  Device& device = *segment.device;
  const std::shared_ptr<Device>& owner = compiled.device_use.device();
  SmallBuffer<fe_binding, 16> bindings(segment.bindings.size());
  std::shared_ptr<Storage> nothing;
  for (std::size_t i = 0; i < segment.bindings.size(); ++i) {
    StridedArray& bound = arrays_->slots[segment.bindings[i]];
    const Slot& slot = plan_.slots[segment.bindings[i]];
    if (!bound.data.storage && slot.kind == Slot::Kind::transferred)
      bound = make_written_array(owner, slot.type, "the value");
    fe_binding& binding = bindings.data()[i];
    binding.struct_size = sizeof binding;
    if (!bound.data.storage) {  // no elements: the module still gets a buffer, so that it need not check
      if (!nothing) nothing = Storage::allocate(owner, 1);
      binding.buffer = nothing->buffer();
      binding.generation = nothing->generation();
      continue;
    }
    binding.buffer = bound.data.storage->buffer();
    const int64_t before = slot.prepared ? 0 : reach_of(bound.type.shape, bound.data.strides).before;
    binding.offset = bound.data.storage->buffer_offset() +
                     static_cast<uint64_t>(bytes_of(bound.type.dtype, bound.data.offset - before));
    binding.generation = bound.data.storage->generation();
  }
  SmallBuffer<fe_scalar, 16> scalars(segment.scalars.size());
  for (std::size_t i = 0; i < segment.scalars.size(); ++i) scalars.data()[i] = scalar(segment.scalars[i]);
  // Offsets of inputs are already in their bindings.
  SmallBuffer<int64_t, 16> offsets(segment.offsets.size());
  for (std::size_t i = 0; i < segment.offsets.size(); ++i) offsets.data()[i] = evaluate_offset(segment.offsets[i]);
  const WrittenMemory workspace =
      working_memory(owner, compiled.workspace.get(), compiled.workspace_size, "the workspace");
  const WrittenMemory scratch =
      working_memory(owner, compiled.scratch.get(), compiled.scratch_size, "the scratch memory");
  fe_execution execution{};
  execution.struct_size = sizeof execution;
  execution.bindings = bindings.data();
  execution.scalars = scalars.data();
  execution.offsets = offsets.data();
  execution.workspace = workspace.storage ? workspace.storage->buffer() : nullptr;
  execution.workspace_offset = workspace.offset;
  execution.workspace_generation = workspace.storage ? workspace.storage->generation() : 0;
  execution.scratch = scratch.storage ? scratch.storage->buffer() : nullptr;
  execution.scratch_offset = scratch.offset;
  execution.scratch_generation = scratch.storage ? scratch.storage->generation() : 0;
  execution.thread_limit = options_.thread_limit;
  const SegmentLabelsPointer labels = observer_.labels_of(segment, compiled.what);
  if (!device.table().queue_create) {
    execution.poll = options_.cancel.function ? poll_cancel : nullptr;
    execution.poll_argument = &options_.cancel;
    await_operands(segment, compiled);
    has_executed_ = true;
    const TraceSpan span(FE_TRACE_SEGMENT, labels ? TraceLabelPointer(labels, &labels->whole) : nullptr);
    NodeTimeRecorder traced(labels);
    if (labels) execution.trace = NodeTimeRecorder::record_node_time;
    execution.trace_argument = &traced;
    const Cancellable kernels(options_.cancel);
    device.check(device.table().execute(compiled.executable, nullptr, &execution));
    return;
  }
  Submission work(device, FE_QUEUE_COMPUTE, {compiled.what});
  const TracedWorkPointer traced = TracedWork::of_segment(device.id(), labels);
  work.trace(traced);
  if (traced) execution.trace = TracedWork::record_node_time;
  execution.trace_argument = traced.get();
  for (std::size_t i = 0; i < segment.bindings.size(); ++i) {
    const std::shared_ptr<Storage>& storage = arrays_->slots[segment.bindings[i]].data.storage;
    if (!storage) continue;
    if (compiled.is_written[i])
      work.writes(storage);
    else
      work.reads(storage);
  }
  for (const std::shared_ptr<Storage>& storage : {workspace.storage, scratch.storage, nothing})
    if (storage) work.writes(storage);
  work.keep(parts_.shared_from_this());  // it owns the executable
  work.give(options_.cancel, [&](fe_module_queue* queue) {
    has_executed_ = true;
    return device.table().execute(compiled.executable, queue, &execution);
  });
}

// The calling thread computes next, so it waits for what queues still read and write.
void Run::await_operands(const Segment& segment, const CompiledSegment& compiled) {
  for (std::size_t i = 0; i < segment.bindings.size(); ++i) {
    const Storage* const storage = arrays_->slots[segment.bindings[i]].data.storage.get();
    if (!storage || !storage->has_uses()) continue;
    if (compiled.is_written[i])
      storage->finish_uses(options_.cancel);
    else
      storage->finish_write(options_.cancel);
  }
}

}  // namespace ferrule
