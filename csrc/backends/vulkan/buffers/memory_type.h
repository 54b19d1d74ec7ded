// Chooses a memory type of a device for a use.
#pragma once

#include <optional>

#include "device/entry_points.h"

namespace ferrule::vulkan {

enum class Use {
  device,    // memory that kernels compute with
  upload,    // written by the host, read by the device
  download,  // written by the device, read by the host
  exchange,  // written and read by both, without invalidation: host_allocate's
};
inline constexpr size_t use_count = 4;

// Chooses among the types of the mask `allowed`. `is_one_memory` says that host and device share their memory, which
// the host can then access directly.
std::optional<uint32_t> choose_memory_type(const VkPhysicalDeviceMemoryProperties& memory, uint32_t allowed, Use use,
                                           bool is_one_memory);

bool is_one_memory(VkPhysicalDeviceType type, const VkPhysicalDeviceMemoryProperties& memory);

}  // namespace ferrule::vulkan
