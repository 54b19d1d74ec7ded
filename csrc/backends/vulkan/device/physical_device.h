// What a device is and can do, found without opening it.
#pragma once

#include <optional>

#include "device/instance.h"
#include "graphs/plan.h"

namespace ferrule::vulkan {

// The features of a device, as they are asked for and as they are enabled: the chain of structs that Vulkan wants. The
// structs point to each other, so it stays where it is.
struct Features {
  VkPhysicalDeviceFeatures2 core;
  VkPhysicalDeviceVulkan11Features vulkan11;
  VkPhysicalDeviceVulkan12Features vulkan12;

  Features();
  Features(const Features&) = delete;
  Features& operator=(const Features&) = delete;
};

// The parts of a feature chain that are enabled in a device: those that every device of ours has, and those that
// kernels use where they are there.
void enable(const Features& there, Features& out);

// What every device of ours must have and this one lacks, as a list for people ("shaderInt64, a compute queue"); empty
// when it lacks nothing. `families` are its queue families.
std::string lacks(uint32_t version, const Features& features, const std::vector<VkQueueFamilyProperties>& families);

// What of a device works at a time: its computing queue and, on many cards, such as copy meanwhile.
enum class Engine : size_t { computing, uploading, downloading };
inline constexpr size_t engine_count = 3;

// A queue of Vulkan's.
struct EngineQueue {
  uint32_t family = 0, index = 0;
  uint32_t timestamp_bits = 0;  // 0: it tells no times
};
// The queues of a device by Engine: nothing where the computing one does that work, too.
using EngineQueues = std::array<std::optional<EngineQueue>, engine_count>;

// Queues that only copy do so beside the computing one. What is given to one queue is done in order, so downloads,
// which wait for what was computed, have one of their own, or else go to a further one that could compute, or to the
// computing one: they would hold uploads up. Nothing computes: no queue.
EngineQueues choose_queues(const std::vector<VkQueueFamilyProperties>& families);

struct PhysicalDevice {
  VkPhysicalDevice handle = VK_NULL_HANDLE;
  uint32_t ordinal = 0;  // in what the instance lists, devices that lack something included
  VkPhysicalDeviceProperties properties{};
  std::array<uint8_t, VK_UUID_SIZE> uuid{};
  EngineQueues queues;
  VkPhysicalDeviceMemoryProperties memory{};
  uint64_t max_allocation = 0;    // bytes of one buffer
  uint64_t borrow_alignment = 0;  // 0: it imports no host memory
  bool has_memory_budget = false;
  bool is_portability_subset = false;
  bool has_clock = false;                 // its times can be told by the host's monotonic clock
  bool has_cooperative_matrices = false;  // of 16 by 16 float16, added up in float32, held by subgroups
  Capabilities capabilities;
  sdk::DeviceDescription description;
};

// The devices that lack nothing. Why another is left out is logged; throws that when none remains.
std::vector<PhysicalDevice> find_devices(const Instance& instance);
// The same device in another instance. Throws FE_NOT_FOUND when it is not there any more.
PhysicalDevice find_again(const PhysicalDevice& device, const Instance& instance);

}  // namespace ferrule::vulkan
