#include "device/context.h"

#include <algorithm>

namespace ferrule::vulkan {

Context::Context(std::shared_ptr<Instance> instance, const PhysicalDevice& physical)
    : instance_(std::move(instance)), physical_(physical) {
  create_device();
  try {
    functions_ = functions_of(instance_->api(), device_);
    for (size_t i = 0; i < engine_count; ++i)
      if (const auto& queue = physical_.queues[i])
        functions_.GetDeviceQueue(device_, queue->family, queue->index, &queues_[i].handle);
  } catch (...) {
    if (functions_.DestroyDevice != nullptr) functions_.DestroyDevice(device_, nullptr);
    throw;
  }
}

Context::~Context() { functions_.DestroyDevice(device_, nullptr); }

void Context::create_device() {
  const InstanceFunctions& api = instance_->api();
  Features there, wanted;
  api.GetPhysicalDeviceFeatures2(physical_.handle, &there.core);
  enable(there, wanted);
  std::vector<const char*> extensions;
  if (physical_.borrow_alignment != 0) extensions.push_back(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
  if (physical_.has_clock) extensions.push_back(VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME);
  if (physical_.has_memory_budget) extensions.push_back(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
  // Vulkan requires this extension to be enabled on devices that have it.
  if (physical_.is_portability_subset) extensions.push_back("VK_KHR_portability_subset");

  auto subgroups = typed<VkPhysicalDeviceSubgroupSizeControlFeaturesEXT>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES_EXT);
  if (physical_.capabilities.subgroup_size > 1) {
    extensions.push_back(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
    subgroups.computeFullSubgroups = VK_TRUE;
    subgroups.pNext = wanted.core.pNext;
    wanted.core.pNext = &subgroups;
  }

#if defined(VK_KHR_cooperative_matrix)
  auto cooperative = typed<VkPhysicalDeviceCooperativeMatrixFeaturesKHR>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR);
  if (physical_.capabilities.cooperative_matrices == "khr") {
    extensions.push_back(VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME);
    cooperative.cooperativeMatrix = VK_TRUE;
    // Shaders with cooperative matrices use this memory model.
    wanted.vulkan12.vulkanMemoryModel = wanted.vulkan12.vulkanMemoryModelDeviceScope = VK_TRUE;
    cooperative.pNext = wanted.core.pNext;
    wanted.core.pNext = &cooperative;
  }
#endif

  const std::array<float, engine_count> priorities = {1, 1, 1};
  std::vector<VkDeviceQueueCreateInfo> queues;
  for (const uint32_t family : queue_families()) {
    auto& queue = queues.emplace_back(typed<VkDeviceQueueCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO));
    queue.queueFamilyIndex = family;
    for (const auto& one : physical_.queues)
      if (one && one->family == family) queue.queueCount = std::max(queue.queueCount, one->index + 1);
    queue.pQueuePriorities = priorities.data();
  }
  auto info = typed<VkDeviceCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
  info.pNext = &wanted.core;
  info.queueCreateInfoCount = static_cast<uint32_t>(queues.size());
  info.pQueueCreateInfos = queues.data();
  info.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
  info.ppEnabledExtensionNames = extensions.data();
  check(api.CreateDevice(physical_.handle, &info, nullptr, &device_), "vkCreateDevice");
}

std::vector<uint32_t> Context::queue_families() const {
  std::vector<uint32_t> families;
  for (const auto& queue : physical_.queues)
    if (queue && std::find(families.begin(), families.end(), queue->family) == families.end())
      families.push_back(queue->family);
  return families;
}

VkResult Context::submit(Engine engine, const VkSubmitInfo& info) {
  OpenQueue& queue = open_queue(engine);
  const std::lock_guard lock(queue.submitting);
  if (loss()) return VK_ERROR_DEVICE_LOST;
  return functions_.QueueSubmit(queue.handle, 1, &info, VK_NULL_HANDLE);
}

std::shared_ptr<const sdk::Error> Context::loss() const {
  const std::lock_guard lock(loss_mutex_);
  return loss_;
}

void Context::lose(const sdk::Error& error) {
  auto loss = std::make_shared<const sdk::Error>(error);
  const std::lock_guard lock(loss_mutex_);
  if (!loss_) loss_ = std::move(loss);
}

void Context::lose_when_idle(const sdk::Error& error) {
  std::vector<std::unique_lock<std::mutex>> locks;
  locks.reserve(queues_.size());
  for (OpenQueue& queue : queues_) locks.emplace_back(queue.submitting);
  const VkResult result = functions_.DeviceWaitIdle(device_);
  if (result != VK_ERROR_DEVICE_LOST) check(result, "vkDeviceWaitIdle");
  lose(error);
}

}  // namespace ferrule::vulkan
