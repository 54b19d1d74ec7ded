// Which of a device's memory types serves which use.
#pragma once

#include <optional>

#include "device/entry_points.h"

namespace ferrule::vulkan {

enum class Use {
  device,    // what kernels compute with
  upload,    // written by the host, read by the device
  download,  // written by the device, read by the host
  exchange,  // written and read by both, and never to be invalidated: host_allocate's
};
inline constexpr size_t use_count = 4;

// Among the types of the mask `allowed`. `is_one_memory`: the host's memory is the device's, which can then be reached
// without a detour.
std::optional<uint32_t> choose_memory_type(const VkPhysicalDeviceMemoryProperties& memory, uint32_t allowed, Use use,
                                           bool is_one_memory);

bool is_one_memory(VkPhysicalDeviceType type, const VkPhysicalDeviceMemoryProperties& memory);

}  // namespace ferrule::vulkan
