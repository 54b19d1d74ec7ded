#include "buffers/block.h"

namespace ferrule::vulkan {

void Block::create_buffer(const void* chain) {
  auto info = typed<VkBufferCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
  info.pNext = chain;
  info.size = size;
  info.usage = buffer_usage;
  // Concurrent sharing: semaphores order the engines' accesses, and no ownership is transferred.
  const std::vector<uint32_t> families = context.queue_families();
  if (families.size() > 1) {
    info.sharingMode = VK_SHARING_MODE_CONCURRENT;
    info.queueFamilyIndexCount = static_cast<uint32_t>(families.size());
    info.pQueueFamilyIndices = families.data();
  }
  check(context.api().CreateBuffer(context.device(), &info, nullptr, &buffer), "vkCreateBuffer");
}

VkMemoryRequirements Block::requirements() const {
  VkMemoryRequirements out{};
  context.api().GetBufferMemoryRequirements(context.device(), buffer, &out);
  return out;
}

VkResult Block::allocate(uint64_t bytes, uint32_t memory_type, const void* chain) {
  auto address_flag = typed<VkMemoryAllocateFlagsInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO);
  address_flag.pNext = chain;
  address_flag.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  auto info = typed<VkMemoryAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO);
  info.pNext = &address_flag;
  info.allocationSize = bytes;
  info.memoryTypeIndex = memory_type;
  flags = context.physical().memory.memoryTypes[memory_type].propertyFlags;
  return context.api().AllocateMemory(context.device(), &info, nullptr, &memory);
}

void Block::bind() {
  check(context.api().BindBufferMemory(context.device(), buffer, memory, 0), "vkBindBufferMemory");
  auto info = typed<VkBufferDeviceAddressInfo>(VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO);
  info.buffer = buffer;
  address = context.api().GetBufferDeviceAddress(context.device(), &info);
}

}  // namespace ferrule::vulkan
