// One memory allocation of the driver. See device_memory.h.
#pragma once

#include "device/context.h"
#include "buffers/free_ranges.h"

namespace ferrule::vulkan {

struct Block {
  explicit Block(const Context& of, uint64_t bytes) : context(of), size(bytes), free(bytes) {}
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  // Freeing memory unmaps it.
  ~Block() {
    context.api().DestroyBuffer(context.device(), buffer, nullptr);
    context.api().FreeMemory(context.device(), memory, nullptr);
  }

  // `chain` is the pNext of VkBufferCreateInfo.
  void create_buffer(const void* chain);
  VkMemoryRequirements requirements() const;
  // `chain` is the pNext of VkMemoryAllocateInfo, and must not contain VkMemoryAllocateFlagsInfo.
  VkResult allocate(uint64_t bytes, uint32_t memory_type, const void* chain);
  void bind();

  const Context& context;
  const uint64_t size;
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  uint64_t address = 0;
  VkMemoryPropertyFlags flags = 0;
  char* host = nullptr;
  FreeRanges free;
  size_t pool = 0;         // the pool in whose list it is
  bool is_shared = false;  // true: in that list; false: owned by its one allocation
};

}  // namespace ferrule::vulkan
