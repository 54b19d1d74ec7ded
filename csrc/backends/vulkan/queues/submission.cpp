#include "queues/submission.h"

namespace ferrule::vulkan {

Semaphore::Semaphore(std::shared_ptr<const Context> context) : context_(std::move(context)) {
  auto kind = typed<VkSemaphoreTypeCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
  kind.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  auto info = typed<VkSemaphoreCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO);
  info.pNext = &kind;
  check(context_->api().CreateSemaphore(context_->device(), &info, nullptr, &handle_), "vkCreateSemaphore");
}

Semaphore::~Semaphore() { context_->api().DestroySemaphore(context_->device(), handle_, nullptr); }

}  // namespace ferrule::vulkan
