// Host memory that the device uses in place.
#include <cstdint>
#include <cstdio>

#include "buffers/device_memory.h"

namespace ferrule::vulkan {
namespace {

constexpr VkExternalMemoryHandleTypeFlagBits host_memory = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;

[[noreturn]] void refuse_to_borrow(const std::string& reason) { throw sdk::Error(FE_UNSUPPORTED, reason); }

// Some drivers accept unaligned memory, and then read the wrong bytes.
void check_alignment(const void* pointer, uint64_t size, const PhysicalDevice& device) {
  const uint64_t alignment = device.borrow_alignment;
  const std::string name = device.description.name;
  if (alignment == 0)
    refuse_to_borrow(name + " does not borrow host memory: its driver has no VK_EXT_external_memory_host");
  const std::string multiple = " is not a multiple of " + std::to_string(alignment);
  if (reinterpret_cast<uintptr_t>(pointer) % alignment != 0) {
    char text[32];
    std::snprintf(text, sizeof text, "%p", pointer);
    refuse_to_borrow("the address " + std::string(text) + multiple);
  }
  if (size == 0 || size % alignment != 0) refuse_to_borrow("the size, " + std::to_string(size) + " bytes," + multiple);
  if (size > device.max_allocation)
    refuse_to_borrow(std::to_string(size) + " bytes are more than the " + std::to_string(device.max_allocation) +
                     " that a buffer of " + name + " can have");
}

}  // namespace

Allocation Memory::borrow(void* pointer, uint64_t size) {
  const PhysicalDevice& device = context_.physical();
  check_alignment(pointer, size, device);

  auto found = typed<VkMemoryHostPointerPropertiesEXT>(VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT);
  const VkResult asked =
      context_.api().GetMemoryHostPointerPropertiesEXT(context_.device(), host_memory, pointer, &found);
  if (asked != VK_SUCCESS)
    refuse_to_borrow("the driver does not take this memory (vkGetMemoryHostPointerPropertiesEXT came back with " +
                     name_of(asked) + ")");

  auto external = typed<VkExternalMemoryBufferCreateInfo>(VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO);
  external.handleTypes = host_memory;
  auto block = std::make_unique<Block>(context_, size);
  block->create_buffer(&external);
  const VkMemoryRequirements needed = block->requirements();
  if (needed.size > size)
    refuse_to_borrow("the driver needs " + std::to_string(needed.size - size) + " bytes behind it");
  // Must be coherent, as for uploads, because the driver is not called when the owner writes to the memory.
  const uint32_t allowed = needed.memoryTypeBits & found.memoryTypeBits;
  const auto type = choose_memory_type(device.memory, allowed, Use::upload, true);
  if (!type) refuse_to_borrow("the driver has no type of memory for it");

  auto import = typed<VkImportMemoryHostPointerInfoEXT>(VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT);
  import.handleType = host_memory;
  import.pHostPointer = pointer;
  // Refuses also if the driver is out of memory: the core can copy instead.
  if (const VkResult result = block->allocate(size, *type, &import); result != VK_SUCCESS)
    refuse_to_borrow("the driver does not take this memory (vkAllocateMemory came back with " + name_of(result) + ")");
  block->bind();
  return own_block(std::move(block), size, 1);
}

}  // namespace ferrule::vulkan
