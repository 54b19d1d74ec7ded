// The properties of a device, queried without opening it.
#pragma once

#include <optional>

#include "device/capabilities.h"
#include "device/instance.h"

namespace ferrule::vulkan {

// The features of a device, for queries and for enabling: Vulkan's chain of structs. The structs point to each other,
// so it cannot be copied or moved.
struct Features {
  VkPhysicalDeviceFeatures2 core;
  VkPhysicalDeviceVulkan11Features vulkan11;
  VkPhysicalDeviceVulkan12Features vulkan12;

  Features();
  Features(const Features&) = delete;
  Features& operator=(const Features&) = delete;
};

// Copies the features to be enabled: those that every device must have, and those that kernels use if present.
void enable(const Features& there, Features& out);

// The required features that a device lacks, as text for messages ("shaderInt64, a compute queue"); empty if it lacks
// none. `families` are its queue families.
std::string lacks(uint32_t version, const Features& features, const std::vector<VkQueueFamilyProperties>& families);

// The parts of a device that work concurrently: its computing queue and, on many cards, queues that copy.
enum class Engine : size_t { computing, uploading, downloading };
inline constexpr size_t engine_count = 3;

// A Vulkan queue.
struct EngineQueue {
  uint32_t family = 0, index = 0;
  uint32_t timestamp_bits = 0;  // 0: it has no timestamps
};
// The queues of a device, by Engine; empty where the computing queue does the work of that engine.
using EngineQueues = std::array<std::optional<EngineQueue>, engine_count>;

// Chooses the queues of the engines. Transfer-only queues copy concurrently with the computing queue. A queue works in
// order, and downloads wait for results, so they would delay uploads on the same queue: they get a second transfer
// queue, or a second computing queue, or else use the computing queue. Without a computing queue, returns no queue.
EngineQueues choose_queues(const std::vector<VkQueueFamilyProperties>& families);

struct PhysicalDevice {
  VkPhysicalDevice handle = VK_NULL_HANDLE;
  uint32_t ordinal = 0;  // the position in the instance's list, which includes unsuitable devices
  VkPhysicalDeviceProperties properties{};
  std::array<uint8_t, VK_UUID_SIZE> uuid{};
  EngineQueues queues;
  VkPhysicalDeviceMemoryProperties memory{};
  uint64_t max_allocation = 0;    // bytes of one buffer
  uint64_t borrow_alignment = 0;  // 0: it cannot import host memory
  bool has_memory_budget = false;
  bool is_portability_subset = false;
  bool has_clock = false;                 // timestamps can be converted to the host's monotonic clock
  bool has_cooperative_matrices = false;  // 16 x 16 float16 with float32 sums, of subgroup scope
  Capabilities capabilities;
  sdk::DeviceDescription description;
};

// The suitable devices. Logs why others are left out; throws that if none is suitable.
std::vector<PhysicalDevice> find_devices(const Instance& instance);
// Finds the same device in another instance. Throws FE_NOT_FOUND if it is gone.
PhysicalDevice find_again(const PhysicalDevice& device, const Instance& instance);

}  // namespace ferrule::vulkan
