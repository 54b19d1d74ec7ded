#include "graphs/program.h"

#include <ferrule/cpp/faults.hpp>

#include <cstring>
#include <utility>

namespace ferrule::metal {
namespace {

using sdk::Fault;  // of kernels/interface.metal

constexpr uint64_t scalars_at = 256;  // in a frame, behind the fault

constexpr Unsigned fault_index = 29, parameters_index = 30;

}  // namespace

Program::Program(std::shared_ptr<OpenDevice> device, const fe_graph_view& view, sdk::DispatchedGraph<Step> graph)
    : device_(std::move(device)),
      places_(view),
      scalar_count_(view.scalar_count),
      steps_(std::move(graph.steps)),
      names_(std::move(graph.names)),
      scratch_(graph.scratch) {
  if (graph.parameters.empty()) return;
  parameters_ = allocate(device_->physical(), graph.parameters.size(), metal::Place::shared);
  std::memcpy(parameters_->host, graph.parameters.data(), graph.parameters.size());
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
  places.reserve(places_.count() + 1);
  for (size_t i = 0; i < places_.count(); ++i) {
    const uint64_t offset = places_[i].offset(execution);
    const Place place = places_[i].is_scalar() ? Place{frame.buffer.get(), scalars_at + offset}
                                               : within(places_[i].buffer(execution), offset);
    // Values without elements may have no memory: they are not read.
    places.push_back(place.buffer != nullptr ? place : Place{frame.buffer.get(), 0});
  }
  places.push_back(within(execution.scratch, execution.scratch_offset));
  return places;
}

std::vector<MemoryPointer> Program::touched_by(const fe_execution& execution) const {
  std::vector<MemoryPointer> touched;
  for (fe_module_buffer* const buffer : places_.buffers(execution)) touched.push_back(buffer_of(buffer).memory());
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
    if (fault.kind != Fault::none) throw sdk::error_of(fault, [&] { return self->names_.at(fault.what); });
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
