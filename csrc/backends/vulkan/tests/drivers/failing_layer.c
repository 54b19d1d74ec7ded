/* A Vulkan layer that makes one function fail: with VULKAN_FAULT "vkQueueSubmit 2 1 -4", the second call of that
 * function fails, once, with VkResult -4. All other calls go to the driver. */
#include "layer.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static VkResult fault_of(const char *function) {
  static atomic_int calls;
  char name[64];
  int first = 0, count = 0, result = 0;
  const char *fault = getenv("VULKAN_FAULT");
  if (fault == NULL || sscanf(fault, "%63s %d %d %d", name, &first, &count, &result) != 4) abort();
  if (strcmp(name, function) != 0) return VK_SUCCESS;
  const int call = atomic_fetch_add(&calls, 1) + 1;
  return call >= first && call < first + count ? (VkResult)result : VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
                                                    const VkAllocationCallbacks *allocator, VkDevice *out) {
  const VkResult fault = fault_of("vkCreateDevice");
  if (fault != VK_SUCCESS) return fault;
  return create_next_device(physical, info, allocator, out);
}

/* A function that has no effect when it fails, like most. */
#define FAILING(function, parameters, arguments)                        \
  static VKAPI_ATTR VkResult VKAPI_CALL failing_##function parameters { \
    const VkResult fault = fault_of(#function);                         \
    return fault != VK_SUCCESS ? fault : NEXT(function) arguments;      \
  }

FAILING(vkAllocateMemory,
        (VkDevice device, const VkMemoryAllocateInfo *info, const VkAllocationCallbacks *allocator,
         VkDeviceMemory *out),
        (device, info, allocator, out))
FAILING(vkCreateBuffer,
        (VkDevice device, const VkBufferCreateInfo *info, const VkAllocationCallbacks *allocator, VkBuffer *out),
        (device, info, allocator, out))
FAILING(vkCreateSemaphore,
        (VkDevice device, const VkSemaphoreCreateInfo *info, const VkAllocationCallbacks *allocator, VkSemaphore *out),
        (device, info, allocator, out))
FAILING(vkMapMemory,
        (VkDevice device, VkDeviceMemory memory, VkDeviceSize offset, VkDeviceSize size, VkMemoryMapFlags flags,
         void **out),
        (device, memory, offset, size, flags, out))
FAILING(vkAllocateCommandBuffers, (VkDevice device, const VkCommandBufferAllocateInfo *info, VkCommandBuffer *out),
        (device, info, out))
FAILING(vkCreateShaderModule,
        (VkDevice device, const VkShaderModuleCreateInfo *info, const VkAllocationCallbacks *allocator,
         VkShaderModule *out),
        (device, info, allocator, out))
FAILING(vkCreateComputePipelines,
        (VkDevice device, VkPipelineCache cache, uint32_t count, const VkComputePipelineCreateInfo *infos,
         const VkAllocationCallbacks *allocator, VkPipeline *out),
        (device, cache, count, infos, allocator, out))
FAILING(vkQueueSubmit, (VkQueue queue, uint32_t count, const VkSubmitInfo *infos, VkFence fence),
        (queue, count, infos, fence))

FAILING(vkGetSemaphoreCounterValue, (VkDevice device, VkSemaphore semaphore, uint64_t *value),
        (device, semaphore, value))

/* With a lost device, it fails when the work is done: a device that is lost does not work on, and the driver must not
 * read what the program frees then. Other failures do not wait. */
static VKAPI_ATTR VkResult VKAPI_CALL failing_vkWaitSemaphores(VkDevice device, const VkSemaphoreWaitInfo *info,
                                                               uint64_t timeout) {
  const VkResult fault = fault_of("vkWaitSemaphores");
  if (fault != VK_SUCCESS && fault != VK_ERROR_DEVICE_LOST) return fault;
  const VkResult result = NEXT(vkWaitSemaphores)(device, info, fault != VK_SUCCESS ? UINT64_MAX : timeout);
  return fault != VK_SUCCESS ? fault : result;
}

static PFN_vkVoidFunction ours(const char *wanted) {
  static const struct named_function functions[] = {
#define OURS(function) {#function, (PFN_vkVoidFunction)failing_##function}
      OURS(vkAllocateMemory),
      OURS(vkCreateBuffer),
      OURS(vkCreateSemaphore),
      OURS(vkMapMemory),
      OURS(vkCreateShaderModule),
      OURS(vkCreateComputePipelines),
      OURS(vkAllocateCommandBuffers),
      OURS(vkQueueSubmit),
      OURS(vkWaitSemaphores),
      OURS(vkGetSemaphoreCounterValue),
      {"vkCreateDevice", (PFN_vkVoidFunction)create_device},
  };
  NAMED_IN(functions, wanted);
}
