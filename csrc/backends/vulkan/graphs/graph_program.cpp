#include "graphs/graph_program.h"

#include <ferrule/cpp/faults.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

namespace ferrule::vulkan {
namespace {

using sdk::Fault;  // of kernels/shader_interface.glsl

constexpr uint64_t largest_update = 65536;  // limit of one vkCmdUpdateBuffer

}  // namespace

struct Program::Frame {
  Frame(OpenDevice& context, uint64_t size)
      : memory(context.memory().allocate(size, 64, Use::device)),
        recordings(context.recordings()),
        recording(recordings.take()) {}
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;
  ~Frame() { recordings.give_back(std::move(recording)); }
  Allocation memory;  // the address table, then the parameters
  Recordings& recordings;
  std::unique_ptr<Recording> recording;
  std::atomic<bool> has_parameters{false};  // set once an execution that copied them is done
};

Program::Program(std::shared_ptr<OpenDevice> context, const fe_graph_view& view, sdk::DispatchedGraph<Step> graph)
    : context_(std::move(context)),
      table_(view),
      steps_(std::move(graph.steps)),
      names_(std::move(graph.names)),
      scratch_(graph.scratch),
      parameters_(context_->memory().allocate(std::max<uint64_t>(graph.parameters.size(), 64), 64, Use::upload)) {
  std::memcpy(parameters_.host, graph.parameters.data(), graph.parameters.size());
}

Program::~Program() = default;

Program::Frame& Program::frame_of(const Queue& queue) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Frame>& frame = frames_[&queue];
  if (!frame) {
    auto made = std::make_unique<Frame>(*context_, parameters_at() + parameters_.size);
    record(*made);
    frame = std::move(made);
  }
  return *frame;
}

void Program::record(Frame& frame) const {
  const auto& vk = context_->api();
  const VkCommandBuffer commands = frame.recording->commands();
  auto inheritance = typed<VkCommandBufferInheritanceInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO);
  auto begin = typed<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
  begin.flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT;
  begin.pInheritanceInfo = &inheritance;
  check(vk.BeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
  write_steps(commands, frame, nullptr);
  check(vk.EndCommandBuffer(commands), "vkEndCommandBuffer");
}

void Program::write_steps(VkCommandBuffer commands, const Frame& frame, const Timestamps* times) const {
  const auto& vk = context_->api();
  VkPipeline bound = VK_NULL_HANDLE;
  uint32_t node = UINT32_MAX, time = 0;
  // Writes the time after the earlier dispatches are done. Later dispatches do not wait for it.
  const auto write_time = [&] {
    if (times != nullptr) times->write(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, time++);
  };
  for (const Step& step : steps_) {
    if (step.node != std::exchange(node, step.node)) write_time();
    if (step.barrier)
      barrier(vk, commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
              VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
    const VkPipeline pipeline = step.pipeline->handle();
    if (bound != pipeline) vk.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    bound = pipeline;
    const Push push{frame.memory.address, frame.memory.address + parameters_at() + step.parameters,
                    table_.scratch_index(), table_.fault_index()};
    vk.CmdPushConstants(commands, context_->pipelines().layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof push, &push);
    vk.CmdDispatch(commands, step.groups[0], step.groups[1], step.groups[2]);
  }
  write_time();
}

uint32_t Program::traced_nodes() const {
  uint32_t nodes = 0;
  for (size_t i = 0; i < steps_.size(); ++i) nodes += i == 0 || steps_[i].node != steps_[i - 1].node ? 1 : 0;
  return nodes;
}

void Program::tell_times(const Timestamps& times, fe_trace_function trace, void* argument) const {
  const auto time = [&](uint32_t which) -> std::optional<uint64_t> {
    const std::optional<uint64_t> timestamp = times.read(which);
    if (!timestamp) return std::nullopt;
    return context_->host_ns(*timestamp, Engine::computing);
  };
  std::optional<uint64_t> begin = time(0);
  uint32_t which = 0;
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (i > 0 && steps_[i].node == steps_[i - 1].node) continue;
    const std::optional<uint64_t> end = time(++which);
    if (begin && end) trace(argument, steps_[i].node, *begin, std::max(*begin, *end));
    begin = end;
  }
}

void Program::run(Queue& queue, const fe_execution& execution) {
  if (steps_.empty()) return;
  const auto& vk = context_->api();
  // Each execution has its own record, because another may begin before the host has read it. It is allocated before
  // the graph is recorded, because the validation layer does not recognise memory that was allocated later.
  const auto fault = std::make_shared<Allocation>(context_->memory().allocate(sizeof(Fault), 64, Use::download));
  Frame& frame = frame_of(queue);
  std::shared_ptr<Timestamps> times;
  if (execution.trace != nullptr && queue.tells_times())
    times = std::make_shared<Timestamps>(*context_, traced_nodes() + 1);
  const std::vector<std::byte> table = table_.filled(execution, frame.memory.address, fault->address);
  const auto commands_of_graph = [&](VkCommandBuffer commands) {
    for (uint64_t at = 0; at < table.size(); at += largest_update)
      vk.CmdUpdateBuffer(commands, frame.memory.buffer, frame.memory.offset + at,
                         std::min(largest_update, table.size() - at), table.data() + at);
    if (!frame.has_parameters) {
      const VkBufferCopy all{parameters_.offset, frame.memory.offset + parameters_at(), parameters_.size};
      vk.CmdCopyBuffer(commands, parameters_.buffer, frame.memory.buffer, 1, &all);
    }
    vk.CmdFillBuffer(commands, fault->buffer, fault->offset, sizeof(Fault), 0);
    barrier(vk, commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
            VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
    if (times) return write_steps(commands, frame, times.get());
    const VkCommandBuffer graph = frame.recording->commands();
    vk.CmdExecuteCommands(commands, 1, &graph);
  };
  const auto after = [self = shared_from_this(), &frame, fault, times, trace = execution.trace,
                      argument = execution.trace_argument] {
    frame.has_parameters = true;
    if (times) self->tell_times(*times, trace, argument);
    // The finding may concern another program's work; it must be an error, not only a log line.
    if (const auto finding = self->context_->instance().take_finding())
      throw sdk::Error(FE_INTERNAL, "Vulkan's validation layer found: " + *finding);
    self->check_fault(*fault);
  };
  queue.submit(table_.touched_by(execution), commands_of_graph, shared_from_this(), after);
}

void Program::check_fault(const Allocation& record) const {
  context_->memory().invalidate(record);
  Fault fault{};
  std::memcpy(&fault, record.host, sizeof fault);
  if (fault.kind != Fault::none) throw sdk::error_of(fault, [&] { return names_.at(fault.what); });
}

}  // namespace ferrule::vulkan
