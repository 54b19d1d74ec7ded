// The GPUs of the machine, as Metal lists them.
#pragma once

#include <ferrule/backend.hpp>

#include <vector>

#include "objc/runtime.h"

namespace ferrule::metal {

// What plans of kernels depend on.
struct Capabilities {
  bool has_matrices = false;            // simdgroup_matrix: Apple7 and later
  uint32_t threadgroup_memory = 32768;  // bytes
  uint32_t simd_width = 32;             // lanes
};

struct PhysicalDevice {
  Owned device;  // an MTLDevice
  sdk::DeviceDescription description;
  Capabilities capabilities;
  bool is_unified = false;  // the GPU and the host share their memory
};

// Makes no queue and takes no memory of a device.
std::vector<PhysicalDevice> find_devices();

}  // namespace ferrule::metal
