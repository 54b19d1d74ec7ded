// Opens Vulkan at run time. Each function that the backend calls is listed once. volk does not fit: it keeps instance
// functions in globals of the module, which a second instance overwrites while the first is in use, and it reports
// neither which function a driver lacks nor why the loader's library cannot be opened.
#pragma once

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

#include <ferrule/backend.hpp>

#include <memory>

// clang-format off
#define FERRULE_VULKAN_GLOBAL_FUNCTIONS(F) \
  F(CreateInstance) F(EnumerateInstanceExtensionProperties) F(EnumerateInstanceLayerProperties)

#define FERRULE_VULKAN_INSTANCE_FUNCTIONS(F) \
  F(CreateDevice) F(DestroyInstance) F(EnumerateDeviceExtensionProperties) F(EnumeratePhysicalDevices) \
  F(GetDeviceProcAddr) F(GetPhysicalDeviceExternalBufferProperties) F(GetPhysicalDeviceFeatures2) \
  F(GetPhysicalDeviceMemoryProperties2) F(GetPhysicalDeviceProperties) F(GetPhysicalDeviceProperties2) \
  F(GetPhysicalDeviceQueueFamilyProperties)

#define FERRULE_VULKAN_DEVICE_FUNCTIONS(F) \
  F(AllocateCommandBuffers) F(AllocateMemory) F(BeginCommandBuffer) F(BindBufferMemory) F(CmdBindPipeline) \
  F(CmdCopyBuffer) F(CmdDispatch) F(CmdExecuteCommands) F(CmdFillBuffer) F(CmdPipelineBarrier) F(CmdPushConstants) \
  F(CmdUpdateBuffer) F(CreateBuffer) \
  F(CreateCommandPool) F(CreateComputePipelines) F(CreatePipelineCache) F(CreatePipelineLayout) F(CreateSemaphore) \
  F(CmdWriteTimestamp) F(CreateQueryPool) F(DestroyQueryPool) F(GetQueryPoolResults) F(ResetQueryPool) \
  F(CreateShaderModule) F(DestroyBuffer) F(DestroyCommandPool) F(DestroyDevice) F(DestroyPipeline) \
  F(DestroyPipelineCache) F(DestroyPipelineLayout) F(DestroySemaphore) F(DestroyShaderModule) F(DeviceWaitIdle) \
  F(EndCommandBuffer) F(FreeMemory) F(GetBufferDeviceAddress) F(GetBufferMemoryRequirements) F(GetDeviceQueue) \
  F(GetPipelineCacheData) F(GetSemaphoreCounterValue) F(InvalidateMappedMemoryRanges) F(MapMemory) F(QueueSubmit) \
  F(ResetCommandBuffer) F(ResetCommandPool) F(WaitSemaphores)

// Functions of extensions: null without the extension.
#ifdef VK_KHR_cooperative_matrix
#define FERRULE_VULKAN_COOPERATIVE_FUNCTIONS(F) F(GetPhysicalDeviceCooperativeMatrixPropertiesKHR)
#else
#define FERRULE_VULKAN_COOPERATIVE_FUNCTIONS(F)
#endif
#define FERRULE_VULKAN_INSTANCE_EXTENSIONS(F) \
  F(CreateDebugUtilsMessengerEXT) F(DestroyDebugUtilsMessengerEXT) F(GetPhysicalDeviceCalibrateableTimeDomainsEXT) \
  FERRULE_VULKAN_COOPERATIVE_FUNCTIONS(F)
#define FERRULE_VULKAN_DEVICE_EXTENSIONS(F) F(GetMemoryHostPointerPropertiesEXT) F(GetCalibratedTimestampsEXT)
// clang-format on

namespace ferrule::vulkan {

// The usage of every buffer of this backend.
inline constexpr VkBufferUsageFlags buffer_usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                                   VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                                                   VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;

#define FERRULE_VULKAN_FUNCTION(name) PFN_vk##name name = nullptr;
struct GlobalFunctions {
  PFN_vkGetInstanceProcAddr GetInstanceProcAddr = nullptr;
  PFN_vkEnumerateInstanceVersion EnumerateInstanceVersion = nullptr;  // null in a Vulkan 1.0 loader
  FERRULE_VULKAN_GLOBAL_FUNCTIONS(FERRULE_VULKAN_FUNCTION)
};
struct InstanceFunctions {
  FERRULE_VULKAN_INSTANCE_FUNCTIONS(FERRULE_VULKAN_FUNCTION)
  FERRULE_VULKAN_INSTANCE_EXTENSIONS(FERRULE_VULKAN_FUNCTION)
};
struct DeviceFunctions {
  FERRULE_VULKAN_DEVICE_FUNCTIONS(FERRULE_VULKAN_FUNCTION)
  FERRULE_VULKAN_DEVICE_EXTENSIONS(FERRULE_VULKAN_FUNCTION)
};
#undef FERRULE_VULKAN_FUNCTION

// Throws FE_NOT_FOUND if Vulkan is not installed.
GlobalFunctions open_library();
// Throw FE_UNSUPPORTED if the driver lacks a function that no extension defines.
InstanceFunctions functions_of(const GlobalFunctions& global, VkInstance instance);
DeviceFunctions functions_of(const InstanceFunctions& functions, VkDevice device);

// "VK_ERROR_DEVICE_LOST"; the number of an unknown result.
std::string name_of(VkResult result);
// Throws if the result is an error: FE_OUT_OF_MEMORY, FE_DEVICE_LOST, FE_TIMEOUT, FE_UNSUPPORTED if the driver lacks
// something, otherwise FE_INTERNAL.
void check(VkResult result, const char* call);
fe_code code_of(VkResult result);

// A Vulkan struct of this type; all other fields are zero.
template <class Struct>
Struct typed(VkStructureType type) {
  Struct out{};
  out.sType = type;
  return out;
}

// The list that a Vulkan enumeration `call(&count, items)` writes. The list may grow between the two calls.
template <class Item, class Call>
std::vector<Item> enumerate(const char* name, Call&& call) {
  std::vector<Item> items;
  VkResult result = VK_INCOMPLETE;
  while (result == VK_INCOMPLETE) {
    uint32_t count = 0;
    check(call(&count, static_cast<Item*>(nullptr)), name);
    items.resize(count);
    result = call(&count, items.data());
    items.resize(count);
  }
  check(result, name);
  return items;
}

// Whether a list of extensions or layers contains a name.
bool has_extension(const std::vector<VkExtensionProperties>& list, std::string_view name);
bool has_layer(const std::vector<VkLayerProperties>& list, std::string_view name);

}  // namespace ferrule::vulkan
