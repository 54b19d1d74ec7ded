#include "graphs/program.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ferrule::metal {
namespace {

// The Fault of kernels/interface.metal.
struct Fault {
  enum : uint32_t { none, index, power, length, chosen, start } kind;
  uint32_t what;
  int64_t found, limit, axis;
};
constexpr uint64_t scalars_at = 256;  // in a frame, behind the fault

constexpr Unsigned fault_index = 29, parameters_index = 30;

std::string sentence_of(const Fault& fault, const std::vector<std::string>& names) {
  const auto numbers = [&](const char* before, int64_t limit) {
    return std::to_string(fault.found) + before + std::to_string(limit);
  };
  switch (fault.kind) {
    case Fault::power: {
      const char* const dtype = sdk::host->dtype_name(fault.what);
      return std::string("pow: ") + (dtype != nullptr ? dtype : "an integer") +
             " to a negative integer power has no integer result";
    }
    case Fault::length:
      return names.at(fault.what) + ": kv_length " + numbers(" is not between 0 and ", fault.limit);
    case Fault::chosen:
      return names.at(fault.what) + ": the mask chooses " + numbers(" slices, and there are ", fault.limit) + " values";
    case Fault::start:
      return names.at(fault.what) + ": the start " + numbers(" of axis ", fault.axis) + " is not between 0 and " +
             std::to_string(fault.limit) + ": the slice leaves x";
    default:
      return names.at(fault.what) + ": index " + numbers(" is out of bounds for axis ", fault.axis) + " with size " +
             std::to_string(fault.limit);
  }
}

}  // namespace

Program::Program(std::shared_ptr<OpenDevice> device, const fe_graph_view& view, std::vector<Step> steps,
                 const std::vector<std::byte>& parameters, std::vector<std::string> names)
    : device_(std::move(device)), scalar_count_(view.scalar_count), steps_(std::move(steps)), names_(std::move(names)) {
  for (uint32_t i = 0; i < view.value_count; ++i) {
    const fe_value& value = *view.values[i];
    const fe_storage& storage = *view.storages[value.storage];
    const fe_dtype_info* const dtype = sdk::host->dtype_info(value.dtype);
    const uint64_t begin = storage.kind == FE_STORAGE_TEMPORARY ? storage.offset : 0;
    values_.push_back({static_cast<fe_storage_kind>(storage.kind), storage.binding,
                       begin + static_cast<uint64_t>(fe_bytes_of(dtype, value.offset)), value.offset_slot, dtype});
    if (storage.kind != FE_STORAGE_TEMPORARY && storage.kind != FE_STORAGE_SCALAR) bindings_.push_back(storage.binding);
  }
  std::sort(bindings_.begin(), bindings_.end());
  bindings_.erase(std::unique(bindings_.begin(), bindings_.end()), bindings_.end());
  if (parameters.empty()) return;
  parameters_ = allocate(device_->physical(), parameters.size(), metal::Place::shared);
  std::memcpy(parameters_->host, parameters.data(), parameters.size());
}

MemoryPointer Program::take_frame() {
  {
    const std::lock_guard lock(mutex_);
    if (!frames_.empty()) {
      MemoryPointer frame = std::move(frames_.back());
      frames_.pop_back();
      return frame;
    }
  }
  return allocate(device_->physical(), scalars_at + sizeof(fe_scalar) * scalar_count_, metal::Place::shared);
}

void Program::give_back(MemoryPointer frame) {
  const std::lock_guard lock(mutex_);
  frames_.push_back(std::move(frame));
}

std::vector<Program::Place> Program::places_of(const fe_execution& execution, const Memory& frame) const {
  const auto within = [](fe_module_buffer* buffer, uint64_t offset) {
    return buffer == nullptr ? Place{} : Place{buffer_of(buffer).memory()->buffer.get(), offset};
  };
  std::vector<Place> places;
  places.reserve(values_.size() + 1);
  for (const Value& value : values_) {
    Place place;
    if (value.kind == FE_STORAGE_TEMPORARY) {
      place = within(execution.workspace, execution.workspace_offset);
    } else if (value.kind == FE_STORAGE_SCALAR) {
      place = {frame.buffer.get(), scalars_at + sizeof(fe_scalar) * value.binding};
    } else {
      const fe_binding& binding = *fe_binding_at(&execution, value.binding);
      place = within(binding.buffer, binding.offset);
    }
    // Values without elements may have no memory: they are not read.
    const int64_t moved = value.offset_slot >= 0 ? execution.offsets[value.offset_slot] : 0;
    if (place.buffer == nullptr)
      place = {frame.buffer.get(), 0};
    else
      place.offset += value.offset + static_cast<uint64_t>(fe_bytes_of(value.dtype, moved));
    places.push_back(place);
  }
  places.push_back(within(execution.scratch, execution.scratch_offset));
  return places;
}

std::vector<MemoryPointer> Program::touched_by(const fe_execution& execution) const {
  std::vector<MemoryPointer> touched;
  touched.reserve(bindings_.size() + 4);
  for (const uint32_t binding : bindings_)
    touched.push_back(buffer_of(fe_binding_at(&execution, binding)->buffer).memory());
  for (fe_module_buffer* const buffer : {execution.workspace, execution.scratch})
    if (buffer != nullptr) touched.push_back(buffer_of(buffer).memory());
  if (parameters_) touched.push_back(parameters_);
  return touched;
}

void Program::encode(Id commands, std::span<const Place> places, const Memory& frame, size_t begin, size_t end) const {
  // Steps run side by side but for the barriers between them.
  const Id encoder =
      checked_encoder(send<Id>(commands, Message::compute_encoder_with_dispatch_type, dispatch_concurrent));
  const auto bind = [&](Id buffer, Unsigned offset, Unsigned index) {
    send<void>(encoder, Message::set_buffer, buffer, offset, index);
  };
  bind(frame.buffer.get(), 0, fault_index);
  Id bound = nullptr;
  for (size_t i = begin; i < end; ++i) {
    const Step& step = steps_[i];
    if (step.barrier && i > begin) send<void>(encoder, Message::memory_barrier_with_scope, barrier_of_buffers);
    const Id pipeline = step.pipeline->get();
    if (bound != pipeline) send<void>(encoder, Message::set_compute_pipeline_state, pipeline);
    bound = pipeline;
    for (size_t k = 0; k < step.values.size(); ++k) {
      const Place& place = step.values[k] == scratch_value ? places.back() : places[step.values[k]];
      bind(place.buffer, place.offset, k);
    }
    if (parameters_) bind(parameters_->buffer.get(), step.parameters, parameters_index);
    send<void>(encoder, Message::dispatch_threadgroups, Size{step.groups[0], step.groups[1], step.groups[2]},
               Size{step.threads, 1, 1});
  }
  send<void>(encoder, Message::end_encoding);
}

void Program::run(Queue& queue, const fe_execution& execution) {
  if (steps_.empty()) return;
  queue.count_execution();
  const MemoryPointer frame = take_frame();
  std::memset(frame->host, 0, sizeof(Fault));
  if (scalar_count_ > 0) std::memcpy(frame->host + scalars_at, execution.scalars, sizeof(fe_scalar) * scalar_count_);
  const std::vector<Place> places = places_of(execution, *frame);
  std::vector<MemoryPointer> touched = touched_by(execution);
  touched.push_back(frame);
  const auto finish = [self = shared_from_this(), frame] {
    Fault fault{};
    std::memcpy(&fault, frame->host, sizeof fault);
    self->give_back(frame);
    if (fault.kind != Fault::none) throw sdk::Error(FE_INVALID_ARGUMENT, sentence_of(fault, self->names_));
  };
  if (execution.trace == nullptr) {
    queue.execute(
        std::move(touched), [&](Id commands) { encode(commands, places, *frame, 0, steps_.size()); },
        shared_from_this(), [finish](uint64_t, uint64_t) { finish(); });
    return;
  }
  // Metal tells the times of command buffers: each node has one of its own.
  for (size_t begin = 0, end = 0; begin < steps_.size(); begin = end) {
    const uint32_t node = steps_[begin].node;
    while (end < steps_.size() && steps_[end].node == node) ++end;
    const bool is_last = end == steps_.size();
    queue.execute(
        touched, [&](Id commands) { encode(commands, places, *frame, begin, end); }, shared_from_this(),
        [=, trace = execution.trace, argument = execution.trace_argument](uint64_t from, uint64_t to) {
          trace(argument, node, from, to);
          if (is_last) finish();
        });
  }
}

}  // namespace ferrule::metal
