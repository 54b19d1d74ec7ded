/* The common part of the Vulkan layers: enters the chain of calls, and passes all calls to the next layer except those
 * of `ours`, which the including file defines. */
#define VK_NO_PROTOTYPES
#include <vulkan/vk_layer.h>

#include <string.h>

/* The layer's own function of that name; NULL if it has none. */
static PFN_vkVoidFunction ours(const char *name);

/* Handles and functions of the latest instance and device; only one at a time computes. */
static VkInstance the_instance;
static VkDevice the_device;
static PFN_vkGetInstanceProcAddr next_of_instance;
static PFN_vkGetDeviceProcAddr next_of_device;

/* The next function of that name. Query those of an instance while it is created; later, the result may be the first
 * layer's function. */
#define NEXT_OF_INSTANCE(function) ((PFN_##function)next_of_instance(the_instance, #function))
#define NEXT(function) ((PFN_##function)next_of_device(the_device, #function))

/* A row of the table of `ours`. */
struct named_function {
  const char *name;
  PFN_vkVoidFunction function;
};
#define NAMED_IN(table, wanted)                                           \
  for (size_t i = 0; i < sizeof(table) / sizeof *(table); ++i)            \
    if (strcmp(wanted, (table)[i].name) == 0) return (table)[i].function; \
  return NULL

/* Finds the struct of that type that holds this layer's link of the chain. */
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

static VkResult create_next_device(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
                                   const VkAllocationCallbacks *allocator, VkDevice *out) {
  LINK_OF(VkLayerDeviceCreateInfo, VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO, info);
  next_of_device = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
  link->u.pLayerInfo = link->u.pLayerInfo->pNext;
  const VkResult result = NEXT_OF_INSTANCE(vkCreateDevice)(physical, info, allocator, out);
  the_device = *out;
  return result;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL of_device(VkDevice device, const char *name) {
  const PFN_vkVoidFunction function = ours(name);
  return function != NULL ? function : next_of_device(device, name);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL of_instance(VkInstance instance, const char *name) {
  if (strcmp(name, "vkGetDeviceProcAddr") == 0) return (PFN_vkVoidFunction)of_device;
  const PFN_vkVoidFunction function = ours(name);
  if (function == NULL && strcmp(name, "vkCreateInstance") == 0) return (PFN_vkVoidFunction)create_instance;
  if (function != NULL || next_of_instance == NULL) return function;
  return next_of_instance(instance, name);
}

VK_LAYER_EXPORT VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *interface) {
  interface->loaderLayerInterfaceVersion = CURRENT_LOADER_LAYER_INTERFACE_VERSION;
  interface->pfnGetInstanceProcAddr = of_instance;
  interface->pfnGetDeviceProcAddr = of_device;
  interface->pfnGetPhysicalDeviceProcAddr = NULL;
  return VK_SUCCESS;
}
