#include "core/executor/run.h"

#include "core/compiler/view.h"
#include "core/error.h"
#include "core/executor/queues.h"

#include <array>
#include <cstring>

namespace ferrule {
namespace {

fe_error* poll_cancel(void* argument) {
  const auto& cancel = *static_cast<const Cancel*>(argument);
  if (!cancel.function || cancel.function(cancel.argument) == 0) return nullptr;
  return make_error(FE_CANCELLED, "the computation was cancelled");
}

// A few bindings on the stack, many on the heap.
template <class T, std::size_t few>
class Scratch {
 public:
  explicit Scratch(std::size_t count) {
    if (count > few) many_.resize(count);
  }
  T* data() { return many_.empty() ? few_.data() : many_.data(); }

 private:
  std::array<T, few> few_{};
  std::vector<T> many_;
};

TypedView contiguous(const std::shared_ptr<Device>& device, const TensorType& type) {
  const auto bytes = static_cast<uint64_t>(byte_count(type));
  return {type, {bytes ? Storage::allocate(device, bytes) : nullptr, 0, contiguous_strides(type.shape)}};
}

}  // namespace

std::vector<TypedView> Run::compute() {
  bind_inputs();
  bind_slots();
  for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
    if (const auto* transfer = std::get_if<Transfer>(&plan_.steps[i])) {
      const Slot& to = plan_.slots[transfer->to];
      TypedView from = slots_[transfer->from];
      from.type = to.type;
      if (plan_.slots[transfer->from].type != to.type) from.view.strides = contiguous_strides(to.type.shape);
      slots_[transfer->to] = copy_to(from, to.device->shared_from_this());
      ++execution_counters().transfers;
    } else {
      execute(std::get<Segment>(plan_.steps[i]), segments_[i]);
    }
  }
  return collect_outputs();
}

void Run::bind_inputs() {
  if (inputs_.size() != plan_.inputs.size())
    fail_argument("the graph has {} inputs, not {}", plan_.inputs.size(), inputs_.size());
  bound_inputs_.reserve(inputs_.size());
  copied_inputs_.reserve(inputs_.size());
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const TypedView& input = inputs_[i];
    if (input.type != plan_.inputs[i])
      fail_argument("input {} is {}, but the graph was compiled for {}", i, to_string(input.type),
                    to_string(plan_.inputs[i]));
    bound_inputs_.push_back(&input);
    if (!input.view.storage) continue;
    Device* const device = plan_.input_devices[i];
    const bool moves = device && input.view.storage->device().get() != device;
    if (!moves && input.view.strides == plan_.input_strides[i]) continue;
    const bool wants_contiguous = is_contiguous(input.type.shape, plan_.input_strides[i]);
    if (!moves && wants_contiguous && is_contiguous(input.type.shape, input.view.strides)) continue;
    if (!wants_contiguous)
      fail_argument("input {} has strides {}, but the graph was compiled for {}", i, to_string(input.view.strides),
                    to_string(plan_.input_strides[i]));
    copied_inputs_.push_back(copy_to(input, device->shared_from_this()));
    bound_inputs_.back() = &copied_inputs_.back();
  }
}

void Run::bind_slots() {
  slots_.resize(plan_.slots.size());
  written_in_place_.assign(plan_.outputs.size(), false);
  for (std::size_t i = 0; i < plan_.slots.size(); ++i) {
    const Slot& slot = plan_.slots[i];
    TypedView& bound = slots_[i];
    switch (slot.kind) {
      case Slot::Kind::input:
        bound = *bound_inputs_[slot.index];
        break;
      case Slot::Kind::constant:
        if (slot.prepared)
          bound = {slot.type, {slot.prepared, 0, contiguous_strides(slot.type.shape)}};
        else
          bound = {slot.type, plan_.constants[slot.index].view};
        break;
      case Slot::Kind::output:
        bind_output(slot, bound);
        break;
      case Slot::Kind::crossing:
        break;  // made where it is written
    }
  }
}

void Run::bind_output(const Slot& slot, TypedView& bound) {
  const std::shared_ptr<Device> device = slot.device->shared_from_this();
  const auto bytes = static_cast<uint64_t>(byte_count(slot.type));
  if (slot.index < out_memory_.size() && out_memory_[slot.index].pointer && bytes > 0) {
    const OutputMemory& memory = out_memory_[slot.index];
    if (memory.size != bytes)
      fail_argument("output {} has {} bytes, but its memory has {}", slot.index, bytes, memory.size);
    const uint64_t alignment = device->properties().borrow_alignment;
    const auto address = reinterpret_cast<uintptr_t>(memory.pointer);
    if (device->is_host() && alignment != 0 && address % alignment == 0 && address % size_of(slot.type.dtype) == 0) {
      auto storage = Storage::borrow(device, memory.pointer, bytes, FE_ACCESS_READ_WRITE, nullptr);
      bound = {slot.type, {std::move(storage), 0, contiguous_strides(slot.type.shape)}};
      written_in_place_[slot.index] = true;
      return;
    }
  }
  bound = contiguous(device, slot.type);
}

void Run::execute(const Segment& segment, const CompiledSegment& compiled) {
  Device& device = *segment.device;
  const std::shared_ptr<Device>& owner = compiled.live.device();
  Scratch<fe_binding, 16> bindings(segment.bindings.size());
  for (std::size_t i = 0; i < segment.bindings.size(); ++i) {
    TypedView& bound = slots_[segment.bindings[i]];
    const Slot& slot = plan_.slots[segment.bindings[i]];
    if (!bound.view.storage && slot.kind == Slot::Kind::crossing) bound = contiguous(owner, slot.type);
    fe_binding& binding = bindings.data()[i];
    binding.struct_size = sizeof binding;
    if (!bound.view.storage) continue;  // no elements
    binding.buffer = bound.view.storage->buffer();
    binding.offset = static_cast<uint64_t>(bound.view.offset) * size_of(bound.type.dtype);
    binding.generation = bound.view.storage->generation();
  }
  Scratch<fe_scalar, 16> scalars(segment.scalars.size());
  for (std::size_t i = 0; i < segment.scalars.size(); ++i) scalars.data()[i] = scalars_[segment.scalars[i]];
  std::shared_ptr<Storage> workspace, scratch;
  const uint64_t workspace_size = view_of(*segment.view).workspace_size;
  if (workspace_size > 0) workspace = Storage::allocate(owner, workspace_size);
  if (compiled.scratch_size > 0) scratch = Storage::allocate(owner, compiled.scratch_size);
  fe_execution execution{};
  execution.struct_size = sizeof execution;
  execution.bindings = bindings.data();
  execution.scalars = scalars.data();
  execution.workspace = workspace ? workspace->buffer() : nullptr;
  execution.scratch = scratch ? scratch->buffer() : nullptr;
  execution.poll = cancel_.function ? poll_cancel : nullptr;
  execution.poll_argument = &cancel_;
  QueueUse queue(device);
  check(device.table().execute(compiled.executable, queue.handle(), &execution));
  queue.wait();
}

std::vector<TypedView> Run::collect_outputs() {
  std::vector<TypedView> results;
  results.reserve(plan_.outputs.size());
  for (std::size_t i = 0; i < plan_.outputs.size(); ++i) {
    const Plan::Output& output = plan_.outputs[i];
    TypedView result;
    switch (output.kind) {
      case Plan::Output::Kind::slot:
        result = slots_[output.index];
        result.type = output.type;
        break;
      case Plan::Output::Kind::input:
        result = {output.type, bound_inputs_[output.index]->view};
        break;
      case Plan::Output::Kind::constant:
        result = {output.type, plan_.constants[output.index].view};
        break;
      case Plan::Output::Kind::scalar: {
        Device* const device = plan_.home;
        result = contiguous(device->shared_from_this(), {output.type.dtype, {}});
        const fe_backend& table = device->table();
        QueueUse queue(*device);
        check(table.copy_from_host(device->open(), queue.handle(), result.view.storage->buffer(), 0,
                                   scalars_[output.index].bytes, size_of(output.type.dtype)));
        queue.wait();
        result.type = output.type;
        break;
      }
    }
    if (output.kind != Plan::Output::Kind::slot) {
      result.view.offset += output.offset;
      result.view.strides = output.strides;
    } else {
      result.view.strides = contiguous_strides(output.type.shape);
    }
    if (element_count(output.type.shape) == 0) result.view = {nullptr, 0, contiguous_strides(output.type.shape)};
    deliver(i, result);
    results.push_back(std::move(result));
  }
  return results;
}

// Into the caller's memory, where the device could not write there itself.
void Run::deliver(std::size_t output, TypedView& result) {
  if (output >= out_memory_.size() || !out_memory_[output].pointer) return;
  if (!written_in_place_[output]) {
    const auto bytes = static_cast<uint64_t>(byte_count(result.type));
    if (out_memory_[output].size != bytes)
      fail_argument("output {} has {} bytes, but its memory has {}", output, bytes, out_memory_[output].size);
    read_to_host(result, out_memory_[output].pointer, bytes);
  }
  result.view.storage = nullptr;
}

}  // namespace ferrule
