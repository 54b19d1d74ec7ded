// The features and limits of a device that kernels depend on.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace ferrule::vulkan {

// Features that kernels may use, beyond those that every device has (physical_device.h).
struct Capabilities {
  bool float16 = false;  // float16 arithmetic; every device can store halves
  bool float64 = false;
  uint32_t subgroup_size = 1;  // a power of two; 1 if the device lacks full subgroups or shuffles
  // The variant of matmul_cooperative.comp that multiplies float16 matrices: "khr" or "simulated"; empty: none.
  std::string_view cooperative_matrices = {};
  uint32_t shared_memory = 16384;  // per workgroup
  uint32_t max_workgroup = 128;    // invocations per workgroup
  std::array<uint32_t, 3> max_groups = {65535, 65535, 65535};
};

}  // namespace ferrule::vulkan
