#include "commands/recordings.h"

namespace ferrule::vulkan {

Recording::Recording(const Context& context) : context_(context) {
  const auto& vk = context.api();
  auto pool = typed<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
  pool.queueFamilyIndex = context.queue(Engine::computing).family;
  check(vk.CreateCommandPool(context.device(), &pool, nullptr, &pool_), "vkCreateCommandPool");
  auto info = typed<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
  info.commandPool = pool_;
  info.level = VK_COMMAND_BUFFER_LEVEL_SECONDARY;
  info.commandBufferCount = 1;
  const VkResult result = vk.AllocateCommandBuffers(context.device(), &info, &commands_);
  if (result != VK_SUCCESS) vk.DestroyCommandPool(context.device(), pool_, nullptr);
  check(result, "vkAllocateCommandBuffers");
}

Recording::~Recording() { context_.api().DestroyCommandPool(context_.device(), pool_, nullptr); }

void Recording::reset() {
  check(context_.api().ResetCommandPool(context_.device(), pool_, VK_COMMAND_POOL_RESET_RELEASE_RESOURCES_BIT),
        "vkResetCommandPool");
}

std::unique_ptr<Recording> Recordings::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      std::unique_ptr<Recording> recording = std::move(free_.back());
      free_.pop_back();
      return recording;
    }
  }
  return std::make_unique<Recording>(context_);
}

void Recordings::give_back(std::unique_ptr<Recording> recording) noexcept {
  try {
    recording->reset();
  } catch (const sdk::Error&) {
    return;  // drops the recording
  }
  const std::lock_guard lock(mutex_);
  if (free_.size() < max_free) free_.push_back(std::move(recording));
}

}  // namespace ferrule::vulkan
