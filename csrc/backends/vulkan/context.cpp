#include "context.h"

#include "memory.h"
#include "pipelines.h"

namespace ferrule::vulkan {

Context::Context(std::shared_ptr<const Instance> instance, const PhysicalDevice& physical, const sdk::Options& options)
    : instance_(std::move(instance)), physical_(physical), faults_(options) {
  create_device();
  try {
    functions_ = functions_of(instance_->api(), device_);
    for (size_t i = 0; i < queue_families().size(); ++i)
      functions_.GetDeviceQueue(device_, queue_families()[i], 0, &queues_[i].handle);
    memory_ = std::make_unique<Memory>(*this);
    pipelines_ = std::make_unique<Pipelines>(*this);
  } catch (...) {
    memory_.reset();
    if (functions_.DestroyDevice != nullptr) functions_.DestroyDevice(device_, nullptr);
    throw;
  }
}

Context::~Context() {
  pipelines_.reset();
  memory_.reset();
  functions_.DestroyDevice(device_, nullptr);
}

void Context::create_device() {
  const InstanceFunctions& api = instance_->api();
  Features there, wanted;
  api.GetPhysicalDeviceFeatures2(physical_.handle, &there.core);
  enable(there, wanted);
  std::vector<const char*> extensions;
  if (physical_.borrow_alignment != 0) extensions.push_back(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
  if (physical_.has_memory_budget) extensions.push_back(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
  // A device that has it may only be created with it.
  if (physical_.is_portability_subset) extensions.push_back("VK_KHR_portability_subset");

  const float priority = 1;
  std::vector<VkDeviceQueueCreateInfo> queues;
  for (const uint32_t family : queue_families()) {
    auto& queue = queues.emplace_back(typed<VkDeviceQueueCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO));
    queue.queueFamilyIndex = family;
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
  }
  auto info = typed<VkDeviceCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
  info.pNext = &wanted.core;
  info.queueCreateInfoCount = static_cast<uint32_t>(queues.size());
  info.pQueueCreateInfos = queues.data();
  info.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
  info.ppEnabledExtensionNames = extensions.data();
  check(api.CreateDevice(physical_.handle, &info, nullptr, &device_), "vkCreateDevice");
}

VkResult Context::submit(Engine engine, const VkSubmitInfo& info) {
  EngineQueue& queue = queues_.at(static_cast<size_t>(engine));
  const std::lock_guard lock(queue.submitting);
  return functions_.QueueSubmit(queue.handle, 1, &info, VK_NULL_HANDLE);
}

}  // namespace ferrule::vulkan
