#include "commands/command_buffers.h"

namespace ferrule::vulkan {
namespace {

// Barriers on a transfer-only engine may not name shader stages.
VkFlags flags_of(Engine engine, VkFlags of_copies, VkFlags of_shaders) {
  return engine == Engine::computing ? of_copies | of_shaders : of_copies;
}

}  // namespace

VkPipelineStageFlags stages_of(Engine engine) {
  return flags_of(engine, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT);
}

void barrier(const DeviceFunctions& api, VkCommandBuffer commands, VkPipelineStageFlags from, VkAccessFlags written,
             VkPipelineStageFlags to, VkAccessFlags touched) {
  auto memory = typed<VkMemoryBarrier>(VK_STRUCTURE_TYPE_MEMORY_BARRIER);
  memory.srcAccessMask = written;
  memory.dstAccessMask = touched;
  api.CmdPipelineBarrier(commands, from, to, 0, 1, &memory, 0, nullptr, 0, nullptr);
}

Commands::Commands(const Context& context, Engine engine) : context_(context), engine_(engine) {
  auto info = typed<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
  info.flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT | VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
  info.queueFamilyIndex = context_.queue(engine).family;
  check(context_.api().CreateCommandPool(context_.device(), &info, nullptr, &pool_), "vkCreateCommandPool");
}

Commands::~Commands() { context_.api().DestroyCommandPool(context_.device(), pool_, nullptr); }

VkCommandBuffer Commands::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      const VkCommandBuffer commands = free_.back();
      free_.pop_back();
      return commands;
    }
    free_.reserve(made_ + 1);  // so that give_back does not allocate
  }
  auto info = typed<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
  info.commandPool = pool_;
  info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  info.commandBufferCount = 1;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  check(context_.api().AllocateCommandBuffers(context_.device(), &info, &commands), "vkAllocateCommandBuffers");
  ++made_;
  return commands;
}

void Commands::give_back(VkCommandBuffer commands) {
  const std::lock_guard lock(mutex_);
  free_.push_back(commands);
}

void Commands::write(VkCommandBuffer commands, const Record& record) {
  const DeviceFunctions& api = context_.api();
  const VkPipelineStageFlags stages = stages_of(engine_);
  const VkAccessFlags reads = flags_of(engine_, VK_ACCESS_TRANSFER_READ_BIT, VK_ACCESS_SHADER_READ_BIT);
  const VkAccessFlags writes = flags_of(engine_, VK_ACCESS_TRANSFER_WRITE_BIT, VK_ACCESS_SHADER_WRITE_BIT);
  auto begin = typed<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
  begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  check(api.BeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");  // also resets it
  barrier(api, commands, stages | VK_PIPELINE_STAGE_HOST_BIT, writes | VK_ACCESS_HOST_WRITE_BIT, stages,
          reads | writes);
  record(commands);
  // Makes the results visible to the host; a semaphore does not do this.
  barrier(api, commands, stages, writes, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
  check(api.EndCommandBuffer(commands), "vkEndCommandBuffer");
}

VkCommandBuffer Commands::recorded(const Record& record) {
  const VkCommandBuffer commands = take();
  try {
    write(commands, record);
  } catch (...) {
    // Recording failed half-way: the buffer must be reset before it is used again.
    context_.api().ResetCommandBuffer(commands, 0);
    give_back(commands);
    throw;
  }
  return commands;
}

}  // namespace ferrule::vulkan
