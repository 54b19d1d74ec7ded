// MTLComputeCommandEncoder.
#include <algorithm>
#include <string>

#include "metal/simulated/encoders.h"

namespace simulated {

using objc::method;

void ComputeEncoder::set_pipeline(Object* state) {
  const char* const selector = "setComputePipelineState:";
  if (!is_open(selector)) return;
  auto* const own = checked_object<PipelineState>(state, "pipeline", selector);
  if (own != nullptr) pipeline_ = own;
}

void ComputeEncoder::set_buffer(Object* buffer, std::size_t offset, std::size_t index) {
  const char* const selector = "setBuffer:offset:atIndex:";
  if (!is_open(selector)) return;
  if (index >= most_buffers)
    return fail(selector, "index(" + std::to_string(index) + ") must be < " + std::to_string(most_buffers));
  if (buffer == nullptr) {
    bound_[index] = {};
    return;
  }
  Buffer* const own = checked_buffer(buffer, selector);
  if (own == nullptr) return;
  if (offset >= own->length())
    return fail(selector, "offset(" + std::to_string(offset) + ") must be < the buffer's length(" +
                              std::to_string(own->length()) + ")");
  buffer_->keep(own);
  bound_[index] = {own, offset};
}

void ComputeEncoder::barrier(std::size_t scope) {
  const char* const selector = "memoryBarrierWithScope:";
  if (!is_open(selector)) return;
  if (scope == 0 || scope > 7) return fail(selector, "an unknown scope");
  constexpr std::size_t buffers = 1;
  if ((scope & buffers) != 0) ++pass_.barriers;
}

bool ComputeEncoder::are_sizes_valid(const char* selector, Size groups, Size threads) const {
  constexpr std::size_t most_groups = 0x7fffffff;
  const auto text = [](Size size) {
    return "(" + std::to_string(size.width) + ", " + std::to_string(size.height) + ", " + std::to_string(size.depth) +
           ")";
  };
  const auto is_empty = [](Size size) { return size.width == 0 || size.height == 0 || size.depth == 0; };
  const std::size_t most = pipeline_->most_threads();
  std::string refusal;
  if (is_empty(groups))
    refusal = "threadgroupsPerGrid" + text(groups) + " must not be 0";
  else if (is_empty(threads))
    refusal = "threadsPerThreadgroup" + text(threads) + " must not be 0";
  else if (std::max({groups.width, groups.height, groups.depth}) > most_groups)
    refusal = "threadgroupsPerGrid" + text(groups) + " is too large";
  else if (std::max({threads.width, threads.height, threads.depth}) > device_most_threads ||
           threads.width * threads.height * threads.depth > device_most_threads)
    refusal = "threadsPerThreadgroup" + text(threads) + " must be <= " + std::to_string(device_most_threads) +
              " (device threadgroup size limit)";
  else if (threads.width * threads.height * threads.depth > most)
    refusal = "threadsPerThreadgroup" + text(threads) + " must be <= " + std::to_string(most) +
              " (the pipeline's maxTotalThreadsPerThreadgroup)";
  if (refusal.empty()) return true;
  fail(selector, refusal);
  return false;
}

std::string ComputeEncoder::refusal_of(const emulation::metal::Argument& argument) const {
  const std::string place = " at index " + std::to_string(argument.index) + " for " + argument.name;
  const Bound& bound = bound_[argument.index];
  if (bound.buffer == nullptr) return "missing buffer binding" + place;
  const std::string offset = "offset(" + std::to_string(bound.offset) + ")";
  const std::size_t length = bound.buffer->length() - bound.offset;
  if (length < argument.least_bytes)
    return "the argument" + place + " from " + offset + " has " + std::to_string(length) + " bytes, it needs " +
           std::to_string(argument.least_bytes);
  const bool is_constant = argument.kind == emulation::metal::Argument::Kind::constant_buffer;
  const std::size_t alignment = is_constant ? buffer_->device().constant_alignment() : 1;
  return bound.offset % alignment == 0 ? "" : offset + place + " must be a multiple of " + std::to_string(alignment);
}

bool ComputeEncoder::are_arguments_valid(const char* selector) const {
  const emulation::metal::Function& function = pipeline_->function().compiled();
  const std::string name = "Compute Function(" + function.name() + "): ";
  for (const emulation::metal::Argument& argument : function.arguments()) {
    const std::string refusal = refusal_of(argument);
    if (!refusal.empty()) return fail(selector, name + refusal), false;
  }
  return true;
}

void ComputeEncoder::dispatch(Size groups, Size threads) {
  const char* const selector = "dispatchThreadgroups:threadsPerThreadgroup:";
  if (!is_open(selector)) return;
  if (!pipeline_) return fail(selector, "there is no pipeline (setComputePipelineState:)");
  if (!are_sizes_valid(selector, groups, threads) || !are_arguments_valid(selector)) return;
  buffer_->keep(pipeline_.get());

  const auto index_of = [](Size size) {
    return emulation::Index{static_cast<unsigned>(size.width), static_cast<unsigned>(size.height),
                            static_cast<unsigned>(size.depth)};
  };
  auto made = std::make_shared<emulation::metal::Dispatch>();
  made->library = pipeline_->function().library().compiled();
  made->function = &pipeline_->function().compiled();
  made->groups = index_of(groups);
  made->threads = index_of(threads);
  Command command;
  command.number_of_barriers = pass_.barriers;
  for (const emulation::metal::Argument& argument : made->function->arguments()) {
    const Bound& bound = bound_[argument.index];
    command.buffers.push_back(bound.buffer);
    made->buffers[argument.index] = {bound.buffer->gpu() + bound.offset, bound.buffer->length() - bound.offset};
  }
  command.run = [made] {
    std::uint64_t seed = 0;
    const emulation::Order order = order_of_threads(seed);
    emulation::metal::run(*made, order, seed);
  };
  pass_.commands.push_back(std::move(command));
}

const objc::Class& ComputeEncoder::own_class() {
  static const auto& one =
      *new objc::Class("MTLComputeCommandEncoder", &Encoder::own_class(), objc::Class::Kind::inner, nullptr,
                       {method<&ComputeEncoder::set_pipeline>("setComputePipelineState:"),
                        method<&ComputeEncoder::set_buffer>("setBuffer:offset:atIndex:"),
                        method<&ComputeEncoder::dispatch>("dispatchThreadgroups:threadsPerThreadgroup:"),
                        method<&ComputeEncoder::barrier>("memoryBarrierWithScope:")});
  return one;
}

}  // namespace simulated
