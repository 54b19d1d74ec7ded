/* A driver for Vulkan's loader that computes nothing. These definitions set its properties:
 *
 * DRIVER_VERSION is its Vulkan version, DRIVER_DEVICES the number of its devices. With Vulkan 1.2 it has every feature
 * except timeline semaphores. vkCreateInstance returns DRIVER_REFUSES, or crashes with DRIVER_CRASHES. */
#define VK_NO_PROTOTYPES
#include <vulkan/vk_icd.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>

#ifndef DRIVER_VERSION
#define DRIVER_VERSION VK_API_VERSION_1_2
#endif
#ifndef DRIVER_DEVICES
#define DRIVER_DEVICES 1
#endif
#ifndef DRIVER_REFUSES
#define DRIVER_REFUSES VK_SUCCESS
#endif

/* Dispatchable handles begin with a word that the loader sets. */
static VK_LOADER_DATA the_instance, the_device;

static VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo *info,
                                                      const VkAllocationCallbacks *allocator, VkInstance *out) {
  (void)info, (void)allocator;
#ifdef DRIVER_CRASHES
  raise(SIGSEGV);
#endif
  set_loader_magic_value(&the_instance);
  set_loader_magic_value(&the_device);
  *out = (VkInstance)&the_instance;
  return DRIVER_REFUSES;
}

static VKAPI_ATTR void VKAPI_CALL destroy_instance(VkInstance instance, const VkAllocationCallbacks *allocator) {
  (void)instance, (void)allocator;
}

static VKAPI_ATTR VkResult VKAPI_CALL instance_version(uint32_t *version) {
  *version = DRIVER_VERSION;
  return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL instance_extensions(const char *layer, uint32_t *count,
                                                          VkExtensionProperties *items) {
  (void)layer, (void)items;
  *count = 0;
  return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL device_extensions(VkPhysicalDevice device, const char *layer, uint32_t *count,
                                                        VkExtensionProperties *items) {
  (void)device, (void)layer, (void)items;
  *count = 0;
  return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL physical_devices(VkInstance instance, uint32_t *count, VkPhysicalDevice *items) {
  (void)instance;
  if (items == NULL)
    *count = DRIVER_DEVICES;
  else if (*count > 0)
    items[0] = (VkPhysicalDevice)&the_device;
  return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL properties(VkPhysicalDevice device, VkPhysicalDeviceProperties *out) {
  (void)device;
  memset(out, 0, sizeof *out);
  out->apiVersion = DRIVER_VERSION;
  out->deviceType = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
  snprintf(out->deviceName, sizeof out->deviceName, "Old Card");
}

static VKAPI_ATTR void VKAPI_CALL properties2(VkPhysicalDevice device, VkPhysicalDeviceProperties2 *out) {
  properties(device, &out->properties);
}

/* Sets every VkBool32 of the struct from `first` to `last`. */
#define ALL_TRUE(object, first, last) \
  for (VkBool32 *feature = &(object)->first; feature <= &(object)->last; ++feature) *feature = VK_TRUE

static VKAPI_ATTR void VKAPI_CALL features(VkPhysicalDevice device, VkPhysicalDeviceFeatures *out) {
  (void)device;
  ALL_TRUE(out, robustBufferAccess, inheritedQueries);
}

static VKAPI_ATTR void VKAPI_CALL features2(VkPhysicalDevice device, VkPhysicalDeviceFeatures2 *out) {
  features(device, &out->features);
  for (VkBaseOutStructure *link = out->pNext; link != NULL; link = link->pNext) {
    if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES) {
      VkPhysicalDeviceVulkan11Features *of_1_1 = (VkPhysicalDeviceVulkan11Features *)(void *)link;
      ALL_TRUE(of_1_1, storageBuffer16BitAccess, shaderDrawParameters);
    }
    if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES) {
      VkPhysicalDeviceVulkan12Features *of_1_2 = (VkPhysicalDeviceVulkan12Features *)(void *)link;
      ALL_TRUE(of_1_2, samplerMirrorClampToEdge, subgroupBroadcastDynamicId);
      of_1_2->timelineSemaphore = VK_FALSE;
    }
  }
}

static VKAPI_ATTR void VKAPI_CALL queue_families(VkPhysicalDevice device, uint32_t *count,
                                                 VkQueueFamilyProperties *items) {
  (void)device;
  if (items == NULL)
    *count = 1;
  else if (*count > 0)
    items[0] = (VkQueueFamilyProperties){.queueFlags = VK_QUEUE_COMPUTE_BIT, .queueCount = 1};
}

static VKAPI_ATTR void VKAPI_CALL memory(VkPhysicalDevice device, VkPhysicalDeviceMemoryProperties *out) {
  (void)device;
  memset(out, 0, sizeof *out);
}

/* The loader requires these functions, but does not call them. */
static VKAPI_ATTR void VKAPI_CALL nothing(void) {}

VKAPI_ATTR VkResult VKAPI_CALL vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version);
VKAPI_ATTR VkResult VKAPI_CALL vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version) {
  if (*version > 5) *version = 5;
  return VK_SUCCESS;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vk_icdGetInstanceProcAddr(VkInstance instance, const char *name);
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vk_icdGetInstanceProcAddr(VkInstance instance, const char *name) {
  static const struct {
    const char *name;
    PFN_vkVoidFunction function;
    uint32_t since;
  } functions[] = {
      {"vkCreateInstance", (PFN_vkVoidFunction)create_instance, VK_API_VERSION_1_0},
      {"vkDestroyInstance", (PFN_vkVoidFunction)destroy_instance, VK_API_VERSION_1_0},
      {"vkEnumerateInstanceVersion", (PFN_vkVoidFunction)instance_version, VK_API_VERSION_1_1},
      {"vkEnumerateInstanceExtensionProperties", (PFN_vkVoidFunction)instance_extensions, VK_API_VERSION_1_0},
      {"vkEnumerateDeviceExtensionProperties", (PFN_vkVoidFunction)device_extensions, VK_API_VERSION_1_0},
      {"vkEnumeratePhysicalDevices", (PFN_vkVoidFunction)physical_devices, VK_API_VERSION_1_0},
      {"vkGetPhysicalDeviceProperties", (PFN_vkVoidFunction)properties, VK_API_VERSION_1_0},
      {"vkGetPhysicalDeviceProperties2", (PFN_vkVoidFunction)properties2, VK_API_VERSION_1_1},
      {"vkGetPhysicalDeviceFeatures", (PFN_vkVoidFunction)features, VK_API_VERSION_1_0},
      {"vkGetPhysicalDeviceFeatures2", (PFN_vkVoidFunction)features2, VK_API_VERSION_1_1},
      {"vkGetPhysicalDeviceQueueFamilyProperties", (PFN_vkVoidFunction)queue_families, VK_API_VERSION_1_0},
      {"vkGetPhysicalDeviceMemoryProperties", (PFN_vkVoidFunction)memory, VK_API_VERSION_1_0},
      {"vkGetPhysicalDeviceFormatProperties", nothing, VK_API_VERSION_1_0},
      {"vkGetPhysicalDeviceImageFormatProperties", nothing, VK_API_VERSION_1_0},
      {"vkGetPhysicalDeviceSparseImageFormatProperties", nothing, VK_API_VERSION_1_0},
      {"vkGetDeviceProcAddr", nothing, VK_API_VERSION_1_0},
      {"vkCreateDevice", nothing, VK_API_VERSION_1_0},
  };
  (void)instance;
  for (size_t i = 0; i < sizeof functions / sizeof *functions; ++i)
    if (functions[i].since <= DRIVER_VERSION && strcmp(name, functions[i].name) == 0) return functions[i].function;
  return NULL;
}
