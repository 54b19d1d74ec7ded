// Where a run's results go: new storages, the caller's memory, or the views that pass through.
#include "core/error.h"
#include "core/executor/run.h"

namespace ferrule {

// An input, or what was copied of it, that overlaps memory cannot be read while results are written there.
bool Run::is_read(const OutputMemory& memory) const {
  const auto begin = reinterpret_cast<uintptr_t>(memory.pointer);
  for (const TypedView* input : arrays_->bound_inputs) {
    if (!input->view.storage || !input->view.storage->host_pointer()) continue;
    const auto first = reinterpret_cast<uintptr_t>(input->view.storage->host_pointer());
    if (begin < first + input->view.storage->size() && first < begin + memory.size) return true;
  }
  return false;
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
    const bool is_aligned =
        alignment != 0 && address % alignment == 0 && bytes % alignment == 0 && address % size_of(slot.type.dtype) == 0;
    if (device->is_host() && device->table().buffer_borrow && is_aligned && !is_read(memory)) {
      auto storage = Storage::borrow(device, memory.pointer, bytes, FE_ACCESS_READ_WRITE, nullptr);
      bound = {slot.type, {std::move(storage), 0, contiguous_strides(slot.type.shape)}};
      arrays_->written_in_place[slot.index] = true;
      return;
    }
  }
  bound = written_array(device, slot.type, "the output");
}

TypedView Run::slot_output(std::size_t number, const Plan::Output& output) const {
  TypedView result = arrays_->slots[output.index];
  result.type = output.type;
  result.view.strides = contiguous_strides(output.type.shape);
  // Two outputs may be one value: memory that the caller gave for the other is not for this one to keep.
  const Slot& slot = plan_.slots[output.index];
  if (slot.kind == Slot::Kind::output && slot.index != number && arrays_->written_in_place[slot.index])
    result = copy_to(result, slot.device->shared_from_this());
  return result;
}

TypedView Run::scalar_output(const Plan::Output& output) const {
  TypedView result = new_array(plan_.home->shared_from_this(), {output.type.dtype, {}});
  write_from_host(result, scalar(output.index).bytes, size_of(output.type.dtype));
  return result;
}

std::vector<TypedView> Run::collect_outputs() {
  std::vector<TypedView> results;
  results.reserve(plan_.outputs.size());
  for (std::size_t i = 0; i < plan_.outputs.size(); ++i) {
    const Plan::Output& output = plan_.outputs[i];
    TypedView result;
    switch (output.kind) {
      case Plan::Output::Kind::slot:
        result = slot_output(i, output);
        break;
      case Plan::Output::Kind::input:
        result.view = arrays_->bound_inputs[output.index]->view;
        break;
      case Plan::Output::Kind::constant:
        result.view = plan_.constants[output.index].view;
        break;
      case Plan::Output::Kind::scalar:
        result = scalar_output(output);
        break;
    }
    if (output.kind != Plan::Output::Kind::slot) {
      result.type = output.type;
      result.view.offset += output.offset;
      result.view.strides = output.strides;
    }
    if (element_count(output.type.shape) == 0) result.view = {nullptr, 0, contiguous_strides(output.type.shape)};
    results.push_back(std::move(result));
  }
  // Last, since the caller's memory may be what an output that passes through is read from.
  for (std::size_t i = 0; i < results.size(); ++i) deliver(i, results[i]);
  return results;
}

// Into the caller's memory, where the device could not write there itself.
void Run::deliver(std::size_t number, TypedView& result) {
  if (number >= out_memory_.size() || !out_memory_[number].pointer) return;
  if (!arrays_->written_in_place[number]) {
    const auto bytes = static_cast<uint64_t>(byte_count(result.type));
    if (out_memory_[number].size != bytes)
      fail_argument("output {} has {} bytes, but its memory has {}", number, bytes, out_memory_[number].size);
    read_to_host(result, out_memory_[number].pointer, bytes);
  }
  result.view.storage = nullptr;
}

}  // namespace ferrule
