/* A layer of Vulkan's that has one function fail: VULKAN_FAULT is "vkQueueSubmit 2 1 -4" for the second call of that
 * function, one time, with the VkResult -4. All else goes on to the driver. */
#define VK_NO_PROTOTYPES
#include <vulkan/vk_layer.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the last instance and the last device, of which there is one at a time that computes. */
static VkInstance the_instance;
static VkDevice the_device;
static PFN_vkGetInstanceProcAddr next_of_instance;
static PFN_vkGetDeviceProcAddr next_of_device;

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

/* A struct of that type that asks for a link of the chain of layers. */
#define LINK_OF(Struct, type, info)       \
  Struct *link = (Struct *)(info)->pNext; \
  while (link->sType != (type) || link->function != VK_LAYER_LINK_INFO) link = (Struct *)link->pNext

static VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo *info,
                                                      const VkAllocationCallbacks *allocator, VkInstance *out) {
  LINK_OF(VkLayerInstanceCreateInfo, VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO, info);
  next_of_instance = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
  link->u.pLayerInfo = link->u.pLayerInfo->pNext;
  const VkResult result = ((PFN_vkCreateInstance)next_of_instance(NULL, "vkCreateInstance"))(info, allocator, out);
  the_instance = *out;
  return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
                                                    const VkAllocationCallbacks *allocator, VkDevice *out) {
  const VkResult fault = fault_of("vkCreateDevice");
  if (fault != VK_SUCCESS) return fault;
  LINK_OF(VkLayerDeviceCreateInfo, VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO, info);
  next_of_device = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
  link->u.pLayerInfo = link->u.pLayerInfo->pNext;
  const VkResult result =
      ((PFN_vkCreateDevice)next_of_instance(the_instance, "vkCreateDevice"))(physical, info, allocator, out);
  the_device = *out;
  return result;
}

#define NEXT(function) ((PFN_##function)next_of_device(the_device, #function))
/* One that fails instead of being done, as most do. */
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

/* What is waited for is done then, as on a device that is lost. */
static VKAPI_ATTR VkResult VKAPI_CALL failing_vkWaitSemaphores(VkDevice device, const VkSemaphoreWaitInfo *info,
                                                               uint64_t timeout) {
  const VkResult result = NEXT(vkWaitSemaphores)(device, info, timeout), fault = fault_of("vkWaitSemaphores");
  return fault != VK_SUCCESS ? fault : result;
}

static PFN_vkVoidFunction ours(const char *wanted) {
  static const struct {
    const char *name;
    PFN_vkVoidFunction function;
  } functions[] = {
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
      {"vkCreateInstance", (PFN_vkVoidFunction)create_instance},
      {"vkCreateDevice", (PFN_vkVoidFunction)create_device},
  };
  for (size_t i = 0; i < sizeof functions / sizeof *functions; ++i)
    if (strcmp(wanted, functions[i].name) == 0) return functions[i].function;
  return NULL;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL of_device(VkDevice device, const char *name) {
  const PFN_vkVoidFunction function = ours(name);
  return function != NULL ? function : next_of_device(device, name);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL of_instance(VkInstance instance, const char *name) {
  if (strcmp(name, "vkGetDeviceProcAddr") == 0) return (PFN_vkVoidFunction)of_device;
  const PFN_vkVoidFunction function = ours(name);
  if (function != NULL || next_of_instance == NULL) return function;
  return next_of_instance(instance, name);
}

VKAPI_ATTR VkResult VKAPI_CALL vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *interface) {
  interface->loaderLayerInterfaceVersion = CURRENT_LOADER_LAYER_INTERFACE_VERSION;
  interface->pfnGetInstanceProcAddr = of_instance;
  interface->pfnGetDeviceProcAddr = of_device;
  interface->pfnGetPhysicalDeviceProcAddr = NULL;
  return VK_SUCCESS;
}
