#include "device/entry_points.h"

#include <algorithm>

#if defined(_WIN32)
#include <windows.h>
#undef CreateSemaphore  // its macro, and the name of a member here
#else
#include <dlfcn.h>
#endif

namespace ferrule::vulkan {
namespace {

#if defined(_WIN32)
constexpr const char* library_names[] = {"vulkan-1.dll"};
constexpr const char* package_of_library = ", which comes with a GPU's driver";
#elif defined(__APPLE__)
constexpr const char* library_names[] = {"libvulkan.dylib", "libvulkan.1.dylib", "libMoltenVK.dylib"};
constexpr const char* package_of_library = ", which Vulkan's SDK brings";
#else
constexpr const char* library_names[] = {"libvulkan.so.1", "libvulkan.so"};
constexpr const char* package_of_library = " (Debian's package is libvulkan1)";
#endif

// Null if the library or the function is missing; `complaint` then says why. The library is never closed, because
// threads and exit functions of drivers do not survive that. Opening it again gives the same library.
PFN_vkGetInstanceProcAddr entry_of(const char* library, std::string& complaint) {
  void* entry = nullptr;
#if defined(_WIN32)
  const HMODULE module = LoadLibraryExA(library, nullptr, LOAD_LIBRARY_SEARCH_SYSTEM32);
  if (module == nullptr) complaint = "it cannot be opened";
  if (module != nullptr) entry = reinterpret_cast<void*>(GetProcAddress(module, "vkGetInstanceProcAddr"));
#else
  void* const module = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) complaint = dlerror();  // usually names the library
  if (module != nullptr) entry = dlsym(module, "vkGetInstanceProcAddr");
#endif
  if (module != nullptr && entry == nullptr) complaint = "it has no function vkGetInstanceProcAddr";
  return reinterpret_cast<PFN_vkGetInstanceProcAddr>(entry);
}

template <class Function>
void require(Function& slot, PFN_vkVoidFunction found, const char* name) {
  if (found == nullptr) throw sdk::Error(FE_UNSUPPORTED, std::string("this system's Vulkan has no function ") + name);
  slot = reinterpret_cast<Function>(found);
}

template <class Properties, size_t size>
bool is_in(const std::vector<Properties>& list, char (Properties::*name)[size], std::string_view wanted) {
  return std::any_of(list.begin(), list.end(), [&](const Properties& row) { return wanted == row.*name; });
}

}  // namespace

GlobalFunctions open_library() {
  GlobalFunctions functions;
  std::string about_first, about_others;
  for (const char* name : library_names) {
    functions.GetInstanceProcAddr = entry_of(name, about_first.empty() ? about_first : about_others);
    if (functions.GetInstanceProcAddr != nullptr) break;
  }
  if (functions.GetInstanceProcAddr == nullptr)
    throw sdk::Error(FE_NOT_FOUND, std::string("this system has no Vulkan loader library") + package_of_library + ": " +
                                       library_names[0] + ": " + about_first);
  const auto find = [&](const char* name) { return functions.GetInstanceProcAddr(nullptr, name); };
  functions.EnumerateInstanceVersion =
      reinterpret_cast<PFN_vkEnumerateInstanceVersion>(find("vkEnumerateInstanceVersion"));
#define FERRULE_VULKAN_FIND(name) require(functions.name, find("vk" #name), "vk" #name);
  FERRULE_VULKAN_GLOBAL_FUNCTIONS(FERRULE_VULKAN_FIND)
  return functions;
}

InstanceFunctions functions_of(const GlobalFunctions& global, VkInstance instance) {
  InstanceFunctions functions;
  const auto find = [&](const char* name) { return global.GetInstanceProcAddr(instance, name); };
#define FERRULE_VULKAN_FIND_OPTIONAL(name) functions.name = reinterpret_cast<PFN_vk##name>(find("vk" #name));
  FERRULE_VULKAN_INSTANCE_FUNCTIONS(FERRULE_VULKAN_FIND)
  FERRULE_VULKAN_INSTANCE_EXTENSIONS(FERRULE_VULKAN_FIND_OPTIONAL)
  return functions;
}

DeviceFunctions functions_of(const InstanceFunctions& instance, VkDevice device) {
  DeviceFunctions functions;
  const auto find = [&](const char* name) { return instance.GetDeviceProcAddr(device, name); };
  FERRULE_VULKAN_DEVICE_FUNCTIONS(FERRULE_VULKAN_FIND)
  FERRULE_VULKAN_DEVICE_EXTENSIONS(FERRULE_VULKAN_FIND_OPTIONAL)
#undef FERRULE_VULKAN_FIND_OPTIONAL
#undef FERRULE_VULKAN_FIND
  return functions;
}

std::string name_of(VkResult result) {
  switch (result) {
#define FERRULE_VULKAN_NAME(name) \
  case name:                      \
    return #name;
    FERRULE_VULKAN_NAME(VK_SUCCESS)
    FERRULE_VULKAN_NAME(VK_NOT_READY)
    FERRULE_VULKAN_NAME(VK_TIMEOUT)
    FERRULE_VULKAN_NAME(VK_INCOMPLETE)
    FERRULE_VULKAN_NAME(VK_ERROR_OUT_OF_HOST_MEMORY)
    FERRULE_VULKAN_NAME(VK_ERROR_OUT_OF_DEVICE_MEMORY)
    FERRULE_VULKAN_NAME(VK_ERROR_INITIALIZATION_FAILED)
    FERRULE_VULKAN_NAME(VK_ERROR_DEVICE_LOST)
    FERRULE_VULKAN_NAME(VK_ERROR_MEMORY_MAP_FAILED)
    FERRULE_VULKAN_NAME(VK_ERROR_LAYER_NOT_PRESENT)
    FERRULE_VULKAN_NAME(VK_ERROR_EXTENSION_NOT_PRESENT)
    FERRULE_VULKAN_NAME(VK_ERROR_FEATURE_NOT_PRESENT)
    FERRULE_VULKAN_NAME(VK_ERROR_INCOMPATIBLE_DRIVER)
    FERRULE_VULKAN_NAME(VK_ERROR_TOO_MANY_OBJECTS)
    FERRULE_VULKAN_NAME(VK_ERROR_FRAGMENTED_POOL)
    FERRULE_VULKAN_NAME(VK_ERROR_OUT_OF_POOL_MEMORY)
    FERRULE_VULKAN_NAME(VK_ERROR_INVALID_EXTERNAL_HANDLE)
    FERRULE_VULKAN_NAME(VK_ERROR_FRAGMENTATION)
    FERRULE_VULKAN_NAME(VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS)
    FERRULE_VULKAN_NAME(VK_ERROR_UNKNOWN)
#undef FERRULE_VULKAN_NAME
    default:
      return "the result " + std::to_string(static_cast<int>(result));
  }
}

fe_code code_of(VkResult result) {
  switch (result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
    case VK_ERROR_OUT_OF_POOL_MEMORY:
    case VK_ERROR_FRAGMENTATION:
    case VK_ERROR_TOO_MANY_OBJECTS:  // the implementation's limit on the number of allocations
      return FE_OUT_OF_MEMORY;
    case VK_ERROR_DEVICE_LOST:
      return FE_DEVICE_LOST;
    case VK_TIMEOUT:
      return FE_TIMEOUT;
    case VK_ERROR_INITIALIZATION_FAILED:
    case VK_ERROR_LAYER_NOT_PRESENT:
    case VK_ERROR_EXTENSION_NOT_PRESENT:
    case VK_ERROR_FEATURE_NOT_PRESENT:
    case VK_ERROR_INCOMPATIBLE_DRIVER:
    case VK_ERROR_INVALID_EXTERNAL_HANDLE:
      return FE_UNSUPPORTED;
    default:
      return FE_INTERNAL;
  }
}

void check(VkResult result, const char* call) {
  if (result == VK_SUCCESS) return;
  throw sdk::Error(code_of(result), std::string(call) + " came back with " + name_of(result));
}

bool has_extension(const std::vector<VkExtensionProperties>& list, std::string_view name) {
  return is_in(list, &VkExtensionProperties::extensionName, name);
}

bool has_layer(const std::vector<VkLayerProperties>& list, std::string_view name) {
  return is_in(list, &VkLayerProperties::layerName, name);
}

}  // namespace ferrule::vulkan
