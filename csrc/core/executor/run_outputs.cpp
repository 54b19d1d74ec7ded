// Destinations of a run's results: new storages, the caller's memory, or views of inputs and constants.
#include "core/copy/transfer.h"
#include "core/error.h"
#include "core/executor/run.h"

#include <algorithm>

namespace ferrule {

namespace {

bool overlap(const void* a, uint64_t a_size, const void* b, uint64_t b_size) {
  const auto a_begin = reinterpret_cast<uintptr_t>(a), b_begin = reinterpret_cast<uintptr_t>(b);
  return a_begin < b_begin + b_size && b_begin < a_begin + a_size;
}

// Conservative: compares with the whole storage of the view.
bool overlaps(const OutputMemory& memory, const StridedArray& view) {
  const Storage* const storage = view.data.storage.get();
  return storage && memory.pointer && storage->host_pointer() &&
         overlap(memory.pointer, memory.size, storage->host_pointer(), storage->size());
}

}  // namespace

// Output memory must not overlap constants, which other calls read, or other output memory.
void Run::check_out_memory() const {
  for (std::size_t i = 0; i < out_memory_.size(); ++i) {
    const OutputMemory& memory = out_memory_[i];
    if (!memory.pointer) continue;
    for (std::size_t k = 0; k < plan_.constants.size(); ++k) {
      const GraphConstant& constant = plan_.constants[k];
      if (overlaps(memory, {{}, constant.data}))
        fail_argument("out: the memory for output {} overlaps the memory of constant '{}'", i, constant.name);
    }
    for (std::size_t k = 0; k < i; ++k)
      if (out_memory_[k].pointer && overlap(memory.pointer, memory.size, out_memory_[k].pointer, out_memory_[k].size))
        fail_argument("out: the memory of outputs {} and {} overlap", k, i);
  }
}

// Whether the memory overlaps an input, or its copy, so that results cannot be written there while it is read.
bool Run::is_read(const OutputMemory& memory) const {
  for (const StridedArray* input : arrays_->bound_inputs)
    if (overlaps(memory, *input)) return true;
  return false;
}

bool Run::is_overwritten(const StridedArray& view) const {
  for (const OutputMemory& memory : out_memory_)
    if (overlaps(memory, view)) return true;
  return false;
}

// An output that is a view of an input or a constant. It is copied if the owner of borrowed memory may write to it, or
// if this run does.
StridedArray Run::pass_through(std::size_t number, const Plan::Output& output, StridedStorage view) const {
  view.offset += output.offset + evaluate_offset(output.dynamic_offset);
  view.strides = output.strides;
  StridedArray result{output.type, std::move(view)};
  const bool is_kept = number >= out_memory_.size() || !out_memory_[number].pointer;
  if ((is_kept && may_change(result)) || is_overwritten(result)) return copy_without_repeats(result);
  return result;
}

void Run::bind_output(const Slot& slot, StridedArray& bound) {
  const std::shared_ptr<Device> device = slot.device->shared_from_this();
  const auto bytes = static_cast<uint64_t>(byte_count(slot.type));
  if (slot.index < out_memory_.size() && out_memory_[slot.index].pointer && bytes > 0) {
    const OutputMemory& memory = out_memory_[slot.index];
    if (memory.size != bytes)
      fail_argument("output {} has {} bytes, but its memory has {}", slot.index, bytes, memory.size);
    const uint64_t alignment = device->properties().borrow_alignment;
    const auto address = reinterpret_cast<uintptr_t>(memory.pointer);
    const bool is_aligned = alignment != 0 && address % alignment == 0 && bytes % alignment == 0 &&
                            address % alignment_of(slot.type.dtype) == 0;
    if (device->is_host() && device->table().buffer_borrow && is_aligned && !is_read(memory)) {
      auto storage = Storage::borrow(device, memory.pointer, bytes, FE_ACCESS_READ_WRITE, nullptr);
      bound = {slot.type, {std::move(storage), 0, contiguous_strides(slot.type.shape)}};
      arrays_->written_in_place[slot.index] = true;
      return;
    }
  }
  if (slot.takes_over >= 0 && bytes > 0 && take_over(slot, bound)) return;
  bound = make_written_array(device, slot.type, "the output");
}

// Binds an output that is an input with some bytes changed to the memory of that input, if the run copied it or it is
// donated.
bool Run::take_over(const Slot& slot, StridedArray& bound) {
  const auto from = static_cast<std::size_t>(slot.takes_over);
  const std::size_t number = plan_.slots[from].index;
  const StridedStorage& input = arrays_->bound_inputs[number]->data;
  Storage* const storage = input.storage.get();
  const auto bytes = static_cast<uint64_t>(byte_count(slot.type));
  if (observer_.guards() || !storage || storage->origin() != Storage::Origin::allocated || storage->is_part() ||
      input.offset != 0 || storage->size() != bytes || storage->device().get() != slot.device)
    return false;
  const bool is_copy = arrays_->bound_inputs[number] != &inputs_[number];
  const auto has_it = [&](const StridedArray& view) { return view.data.storage.get() == storage; };
  if (!is_copy) {
    // Another input in the same memory may be read while the output is written.
    if (!options_.donor || std::count_if(inputs_.begin(), inputs_.end(), has_it) > 1) return false;
    const auto holders = 1 + std::count_if(arrays_->slots.begin(), arrays_->slots.end(), has_it);
    const std::shared_ptr<Storage> taken = options_.donor->take(number, holders);
    if (!taken) return false;
    for (StridedArray& other : arrays_->slots)
      if (has_it(other)) other.data.storage = taken;
  }
  bound = {slot.type, {arrays_->slots[from].data.storage, 0, contiguous_strides(slot.type.shape)}};
  return true;
}

StridedArray Run::slot_output(std::size_t number, const Plan::Output& output) const {
  StridedArray result = arrays_->slots[output.index];
  result.type = output.type;
  result.data.strides = contiguous_strides(output.type.shape);
  // Two outputs may be one value: this one must not keep memory that the caller gave for the other.
  const Slot& slot = plan_.slots[output.index];
  if (slot.kind == Slot::Kind::output && slot.index != number && arrays_->written_in_place[slot.index])
    result = copy_to(result, slot.device->shared_from_this());
  return result;
}

StridedArray Run::scalar_output(const Plan::Output& output) const {
  StridedArray result = new_array(plan_.home->shared_from_this(), {output.type.dtype, {}});
  write_from_host(result, scalar(output.index).bytes, static_cast<uint64_t>(block_bytes(output.type.dtype)));
  result.type = output.type;
  result.data.strides = output.strides;
  return result;
}

std::vector<StridedArray> Run::collect_outputs() {
  std::vector<StridedArray> results;
  results.reserve(plan_.outputs.size());
  for (std::size_t i = 0; i < plan_.outputs.size(); ++i) {
    const Plan::Output& output = plan_.outputs[i];
    StridedArray result;
    switch (output.kind) {
      case Plan::Output::Kind::slot:
        result = slot_output(i, output);
        break;
      case Plan::Output::Kind::input:
        result = pass_through(i, output, arrays_->bound_inputs[output.index]->data);
        break;
      case Plan::Output::Kind::constant:
        result = pass_through(i, output, plan_.constants[output.index].data);
        break;
      case Plan::Output::Kind::scalar:
        result = scalar_output(output);
        break;
    }
    if (element_count(output.type.shape) == 0) result.data = {nullptr, 0, contiguous_strides(output.type.shape)};
    results.push_back(std::move(result));
  }
  // Last, as it may overwrite inputs: nothing reads them after this.
  for (std::size_t i = 0; i < results.size(); ++i) deliver(i, results[i]);
  return results;
}

// Copies to the caller's memory if the device could not write there itself.
void Run::deliver(std::size_t number, StridedArray& result) {
  if (number >= out_memory_.size() || !out_memory_[number].pointer) return;
  if (!arrays_->written_in_place[number]) {
    const auto bytes = static_cast<uint64_t>(byte_count(result.type));
    if (out_memory_[number].size != bytes)
      fail_argument("output {} has {} bytes, but its memory has {}", number, bytes, out_memory_[number].size);
    read_to_host(result, out_memory_[number].pointer, bytes);
  }
  result.data.storage = nullptr;
}

}  // namespace ferrule
