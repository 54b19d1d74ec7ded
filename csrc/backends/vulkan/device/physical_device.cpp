#include "device/physical_device.h"

#include "device/clock.h"

#include <algorithm>
#include <cstdio>

namespace ferrule::vulkan {
namespace {

// Visits each required feature: its name, and its member of the struct chain.
template <class Visit>
void visit_required(Visit&& visit) {
  visit(
      "shaderInt64", [](auto& f) -> auto& { return f.core.features.shaderInt64; });
  visit(
      "shaderInt16", [](auto& f) -> auto& { return f.core.features.shaderInt16; });
  visit(
      "storageBuffer16BitAccess", [](auto& f) -> auto& { return f.vulkan11.storageBuffer16BitAccess; });
  visit(
      "shaderInt8", [](auto& f) -> auto& { return f.vulkan12.shaderInt8; });
  visit(
      "storageBuffer8BitAccess", [](auto& f) -> auto& { return f.vulkan12.storageBuffer8BitAccess; });
  visit(
      "scalarBlockLayout", [](auto& f) -> auto& { return f.vulkan12.scalarBlockLayout; });
  visit(
      "bufferDeviceAddress", [](auto& f) -> auto& { return f.vulkan12.bufferDeviceAddress; });
  visit(
      "timelineSemaphore", [](auto& f) -> auto& { return f.vulkan12.timelineSemaphore; });
}
template <class Visit>
void visit_optional(Visit&& visit) {
  visit(
      "shaderFloat64", [](auto& f) -> auto& { return f.core.features.shaderFloat64; });
  visit(
      "shaderFloat16", [](auto& f) -> auto& { return f.vulkan12.shaderFloat16; });
  visit(
      "shaderSubgroupExtendedTypes", [](auto& f) -> auto& { return f.vulkan12.shaderSubgroupExtendedTypes; });
  visit(
      "hostQueryReset", [](auto& f) -> auto& { return f.vulkan12.hostQueryReset; });
}

std::string version_text(uint32_t version) {
  return std::to_string(VK_API_VERSION_MAJOR(version)) + "." + std::to_string(VK_API_VERSION_MINOR(version));
}

fe_device_kind kind_of(VkPhysicalDeviceType type) {
  switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
      return FE_DEVICE_GPU;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
      return FE_DEVICE_INTEGRATED_GPU;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
      return FE_DEVICE_SOFTWARE;
    default:
      return FE_DEVICE_ACCELERATOR;
  }
}

uint64_t device_local_bytes(const VkPhysicalDeviceMemoryProperties& memory) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < memory.memoryHeapCount; ++i)
    if (memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) bytes += memory.memoryHeaps[i].size;
  return bytes;
}

// Puts a struct at the front of a query's chain, if `is_there`.
template <class Struct>
void put(VkPhysicalDeviceProperties2& chain, Struct& link, VkStructureType type, bool is_there = true) {
  if (!is_there) return;
  link = typed<Struct>(type);
  link.pNext = chain.pNext;
  chain.pNext = &link;
}

Capabilities capabilities_of(const VkPhysicalDeviceLimits& limits, const VkPhysicalDeviceVulkan11Properties& vulkan11,
                             const Features& features, bool has_full_subgroups) {
  Capabilities out;
  out.float16 = features.vulkan12.shaderFloat16 != 0;
  out.float64 = features.core.features.shaderFloat64 != 0;
  constexpr VkSubgroupFeatureFlags used = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT;
  if (has_full_subgroups && (vulkan11.subgroupSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT) &&
      (vulkan11.subgroupSupportedOperations & used) == used)
    out.subgroup_size = vulkan11.subgroupSize;
  out.shared_memory = limits.maxComputeSharedMemorySize;
  out.max_workgroup = limits.maxComputeWorkGroupInvocations;
  std::copy_n(limits.maxComputeWorkGroupCount, 3, out.max_groups.begin());
  return out;
}

bool imports_host_memory(const InstanceFunctions& api, VkPhysicalDevice device) {
  auto info = typed<VkPhysicalDeviceExternalBufferInfo>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO);
  info.usage = buffer_usage;
  info.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
  auto found = typed<VkExternalBufferProperties>(VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES);
  api.GetPhysicalDeviceExternalBufferProperties(device, &info, &found);
  constexpr VkExternalMemoryFeatureFlags importable = VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT;
  return (found.externalMemoryProperties.externalMemoryFeatures & importable) != 0;
}

// Queries the features of one extension of a device.
template <class Struct>
Struct feature_struct(const InstanceFunctions& api, VkPhysicalDevice device, VkStructureType type) {
  auto features = typed<Struct>(type);
  auto all = typed<VkPhysicalDeviceFeatures2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
  all.pNext = &features;
  api.GetPhysicalDeviceFeatures2(device, &all);
  return features;
}

// Headers of 2023 and older, such as Debian 12's, do not define these functions.
#if defined(VK_KHR_cooperative_matrix)
bool has_cooperative_matrices(const InstanceFunctions& api, VkPhysicalDevice device) {
  if (api.GetPhysicalDeviceCooperativeMatrixPropertiesKHR == nullptr) return false;
  const auto features = feature_struct<VkPhysicalDeviceCooperativeMatrixFeaturesKHR>(
      api, device, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR);
  if (!features.cooperativeMatrix) return false;
  const auto kinds = enumerate<VkCooperativeMatrixPropertiesKHR>(
      "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR",
      [&](uint32_t* count, VkCooperativeMatrixPropertiesKHR* items) {
        const auto empty = typed<VkCooperativeMatrixPropertiesKHR>(VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR);
        if (items != nullptr) std::fill_n(items, *count, empty);
        return api.GetPhysicalDeviceCooperativeMatrixPropertiesKHR(device, count, items);
      });
  return std::any_of(kinds.begin(), kinds.end(), [](const VkCooperativeMatrixPropertiesKHR& kind) {
    return kind.MSize == 16 && kind.NSize == 16 && kind.KSize == 16 && kind.AType == VK_COMPONENT_TYPE_FLOAT16_KHR &&
           kind.BType == VK_COMPONENT_TYPE_FLOAT16_KHR && kind.CType == VK_COMPONENT_TYPE_FLOAT32_KHR &&
           kind.ResultType == VK_COMPONENT_TYPE_FLOAT32_KHR && kind.scope == VK_SCOPE_SUBGROUP_KHR;
  });
}
#endif

bool has_full_subgroups(const InstanceFunctions& api, VkPhysicalDevice device) {
  const auto control = feature_struct<VkPhysicalDeviceSubgroupSizeControlFeaturesEXT>(
      api, device, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES_EXT);
  return control.computeFullSubgroups != 0;
}

bool has_host_time_domain(const InstanceFunctions& api, VkPhysicalDevice device) {
  if (api.GetPhysicalDeviceCalibrateableTimeDomainsEXT == nullptr) return false;
  const auto domains = enumerate<VkTimeDomainEXT>(
      "vkGetPhysicalDeviceCalibrateableTimeDomainsEXT", [&](uint32_t* count, VkTimeDomainEXT* items) {
        return api.GetPhysicalDeviceCalibrateableTimeDomainsEXT(device, count, items);
      });
  const auto has = [&](VkTimeDomainEXT domain) {
    return std::find(domains.begin(), domains.end(), domain) != domains.end();
  };
  return has(VK_TIME_DOMAIN_DEVICE_EXT) && has(host_time_domain);
}

// Queries a device with Vulkan 1.2.
void describe(const Instance& instance, const Features& features, PhysicalDevice& device) {
  const InstanceFunctions& api = instance.api();
  const auto extensions = enumerate<VkExtensionProperties>(
      "vkEnumerateDeviceExtensionProperties", [&](uint32_t* count, VkExtensionProperties* items) {
        return api.EnumerateDeviceExtensionProperties(device.handle, nullptr, count, items);
      });
  const bool has_import = has_extension(extensions, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
  const bool has_pci = has_extension(extensions, VK_EXT_PCI_BUS_INFO_EXTENSION_NAME);
  // The size limit of one buffer was added in Vulkan 1.3.
  const bool has_buffer_limit = std::min(device.properties.apiVersion, instance.version()) >= VK_API_VERSION_1_3 ||
                                has_extension(extensions, VK_KHR_MAINTENANCE_4_EXTENSION_NAME);
  device.has_memory_budget = has_extension(extensions, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
  device.is_portability_subset = has_extension(extensions, "VK_KHR_portability_subset");  // named in beta headers only
  device.has_clock = features.vulkan12.hostQueryReset &&
                     has_extension(extensions, VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME) &&
                     has_host_time_domain(api, device.handle);

  auto all = typed<VkPhysicalDeviceProperties2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2);
  VkPhysicalDeviceVulkan11Properties vulkan11;
  VkPhysicalDeviceVulkan12Properties vulkan12;
  VkPhysicalDeviceMaintenance4Properties maintenance4;
  VkPhysicalDeviceExternalMemoryHostPropertiesEXT host_memory;
  VkPhysicalDevicePCIBusInfoPropertiesEXT pci;
  put(all, vulkan11, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES);
  put(all, vulkan12, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES);
  put(all, maintenance4, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES, has_buffer_limit);
  put(all, host_memory, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT, has_import);
  put(all, pci, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT, has_pci);
  api.GetPhysicalDeviceProperties2(device.handle, &all);
  auto memory = typed<VkPhysicalDeviceMemoryProperties2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2);
  api.GetPhysicalDeviceMemoryProperties2(device.handle, &memory);

  std::copy_n(vulkan11.deviceUUID, VK_UUID_SIZE, device.uuid.begin());
  device.memory = memory.memoryProperties;
  device.max_allocation = vulkan11.maxMemoryAllocationSize;
  if (has_buffer_limit) device.max_allocation = std::min(device.max_allocation, maintenance4.maxBufferSize);
  if (has_import && imports_host_memory(api, device.handle))
    device.borrow_alignment = host_memory.minImportedHostPointerAlignment;
  const bool controls_subgroups = has_extension(extensions, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
  device.capabilities = capabilities_of(device.properties.limits, vulkan11, features,
                                        controls_subgroups && has_full_subgroups(api, device.handle));

#if defined(VK_KHR_cooperative_matrix)
  device.has_cooperative_matrices = features.vulkan12.vulkanMemoryModel &&
                                    features.vulkan12.vulkanMemoryModelDeviceScope &&
                                    has_extension(extensions, VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME) &&
                                    has_cooperative_matrices(api, device.handle);
#endif

  sdk::DeviceDescription& description = device.description;
  description.kind = kind_of(device.properties.deviceType);
  description.name = device.properties.deviceName;
  description.description = std::string(vulkan12.driverName) + " " + vulkan12.driverInfo + ", Vulkan " +
                            version_text(device.properties.apiVersion);
  description.total_memory = device_local_bytes(device.memory);
  description.max_allocation = device.max_allocation;
  description.borrow_alignment = device.borrow_alignment;
  if (description.kind == FE_DEVICE_INTEGRATED_GPU || description.kind == FE_DEVICE_SOFTWARE)
    description.flags = FE_DEVICE_FLAG_UNIFIED_MEMORY;
  // The UUID of a software device names the driver, and is the same on every machine.
  if (description.kind != FE_DEVICE_SOFTWARE) description.uuid = device.uuid;
  if (has_pci) {
    char text[32];
    std::snprintf(text, sizeof text, "%04x:%02x:%02x.%x", pci.pciDomain, pci.pciBus, pci.pciDevice, pci.pciFunction);
    description.pci_address = text;
  }
}

// Fills `device`, and returns what it lacks.
std::string look_at(const Instance& instance, PhysicalDevice& device) {
  const InstanceFunctions& api = instance.api();
  api.GetPhysicalDeviceProperties(device.handle, &device.properties);
  const uint32_t version = std::min(device.properties.apiVersion, instance.version());
  Features features;
  // Older drivers do not know these structs.
  if (version >= VK_API_VERSION_1_2) api.GetPhysicalDeviceFeatures2(device.handle, &features.core);
  uint32_t count = 0;
  api.GetPhysicalDeviceQueueFamilyProperties(device.handle, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  api.GetPhysicalDeviceQueueFamilyProperties(device.handle, &count, families.data());
  std::string missing = lacks(version, features, families);
  if (!missing.empty()) return missing;
  device.queues = choose_queues(families);
  for (const auto& [engine, kind] :
       {std::pair{Engine::uploading, FE_QUEUE_UPLOAD}, {Engine::downloading, FE_QUEUE_DOWNLOAD}})
    if (device.queues[static_cast<size_t>(engine)]) device.description.queue_kinds |= 1U << kind;
  describe(instance, features, device);
  return "";
}

}  // namespace

Features::Features()
    : core(typed<VkPhysicalDeviceFeatures2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2)),
      vulkan11(typed<VkPhysicalDeviceVulkan11Features>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES)),
      vulkan12(typed<VkPhysicalDeviceVulkan12Features>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES)) {
  core.pNext = &vulkan11;
  vulkan11.pNext = &vulkan12;
}

void enable(const Features& there, Features& out) {
  const auto copy = [&](const char*, auto feature) { feature(out) = feature(there); };
  visit_required(copy);
  visit_optional(copy);
}

std::string lacks(uint32_t version, const Features& features, const std::vector<VkQueueFamilyProperties>& families) {
  if (version < VK_API_VERSION_1_2) return "Vulkan 1.2 (it has " + version_text(version) + ")";
  std::string list;
  const auto add = [&](const char* name) { list += (list.empty() ? "" : ", ") + std::string(name); };
  visit_required([&](const char* name, auto feature) {
    if (!feature(features)) add(name);
  });
  if (!choose_queues(families).front()) add("a compute queue");
  return list;
}

EngineQueues choose_queues(const std::vector<VkQueueFamilyProperties>& families) {
  EngineQueues out;
  const auto queue = [&](uint32_t family, uint32_t index) {
    return EngineQueue{family, index, families[family].timestampValidBits};
  };
  const auto set_once = [](std::optional<EngineQueue>& place, const EngineQueue& found) {
    if (!place) place = found;
  };
  auto& [computing, uploading, downloading] = out;
  // Prefers a compute family without graphics: on some devices it runs concurrently with graphics.
  for (const VkQueueFlags avoided : {VkQueueFlags{VK_QUEUE_GRAPHICS_BIT}, VkQueueFlags{0}})
    for (uint32_t i = 0; i < families.size(); ++i)
      if (families[i].queueCount > 0 && (families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) &&
          !(families[i].queueFlags & avoided))
        set_once(computing, queue(i, 0));
  if (!computing) return out;
  for (uint32_t i = 0; i < families.size(); ++i) {
    constexpr VkQueueFlags others = VK_QUEUE_COMPUTE_BIT | VK_QUEUE_GRAPHICS_BIT;
    if (!(families[i].queueFlags & VK_QUEUE_TRANSFER_BIT) || (families[i].queueFlags & others)) continue;
    for (uint32_t index = 0; index < std::min(families[i].queueCount, 2u); ++index)
      set_once(uploading ? downloading : uploading, queue(i, index));
  }
  if (uploading && families[computing->family].queueCount > 1) set_once(downloading, queue(computing->family, 1));
  return out;
}

std::vector<PhysicalDevice> find_devices(const Instance& instance) {
  std::vector<PhysicalDevice> found;
  std::string refusals;
  uint32_t ordinal = 0;
  for (const VkPhysicalDevice handle : instance.physical_devices()) {
    PhysicalDevice device;
    device.handle = handle;
    device.ordinal = ordinal++;
    const std::string missing = look_at(instance, device);
    if (missing.empty()) {
      found.push_back(std::move(device));
      continue;
    }
    const std::string refusal = std::string(device.properties.deviceName) + " lacks " + missing;
    sdk::host->log(FE_LOG_INFO, ("vulkan: a device is left out: " + refusal).c_str());
    refusals += (refusals.empty() ? "" : "; ") + refusal;
  }
  if (!found.empty()) return found;
  if (refusals.empty()) throw sdk::Error(FE_NOT_FOUND, "Vulkan lists no device on this machine");
  throw sdk::Error(FE_UNSUPPORTED, "no Vulkan device of this machine has what the backend needs: " + refusals);
}

PhysicalDevice find_again(const PhysicalDevice& device, const Instance& instance) {
  for (PhysicalDevice& other : find_devices(instance))
    if (other.ordinal == device.ordinal && other.uuid == device.uuid) return std::move(other);
  throw sdk::Error(FE_NOT_FOUND, std::string(device.properties.deviceName) + " is no longer among Vulkan's devices");
}

}  // namespace ferrule::vulkan
