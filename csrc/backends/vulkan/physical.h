// What a device is and can do, found without opening it.
#pragma once

#include <optional>

#include "instance.h"
#include "plan.h"

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

// The family that computes; and one that only copies, if there is one: such a queue copies beside the computing one.
std::optional<uint32_t> compute_family(const std::vector<VkQueueFamilyProperties>& families);
std::optional<uint32_t> transfer_family(const std::vector<VkQueueFamilyProperties>& families);

// What of a device works at a time: its computing queue and, on many cards, one that copies meanwhile.
enum class Engine : size_t { computing, copying };
inline constexpr size_t most_engines = 2;

struct PhysicalDevice {
  VkPhysicalDevice handle = VK_NULL_HANDLE;
  uint32_t ordinal = 0;  // in what the instance lists, devices that lack something included
  VkPhysicalDeviceProperties properties{};
  std::array<uint8_t, VK_UUID_SIZE> uuid{};
  std::vector<uint32_t> queue_families;  // by Engine: that of the computing one, and that of the copying one if any
  VkPhysicalDeviceMemoryProperties memory{};
  uint64_t max_allocation = 0;    // bytes of one buffer
  uint64_t borrow_alignment = 0;  // 0: it imports no host memory
  bool has_memory_budget = false;
  bool is_portability_subset = false;
  bool has_cooperative_matrices = false;  // of 16 by 16 float16, added up in float32, held by subgroups
  Capabilities capabilities;
  sdk::DeviceDescription description;
};

// The devices that lack nothing. Why another is left out is logged; throws that when none remains.
std::vector<PhysicalDevice> find_devices(const Instance& instance);
// The same device in another instance. Throws FE_NOT_FOUND when it is not there any more.
PhysicalDevice find_again(const PhysicalDevice& device, const Instance& instance);

}  // namespace ferrule::vulkan
