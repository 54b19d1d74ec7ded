// The GPUs of the machine, as Metal lists them.
#pragma once

#include <ferrule/backend.hpp>

#include <vector>

#include "objc/runtime.h"

namespace ferrule::metal {

// The properties of a device that the plans of kernels depend on.
struct Capabilities {
  uint32_t threadgroup_memory = 32768;  // bytes
  bool has_simdgroup_matrices = false;  // products of 8 x 8 matrices: GPU family Apple7 and later
  // Lanes of a simdgroup exchange values: families Apple6 and later, Mac2 and Metal3. No Mac has an earlier GPU, but a
  // virtual machine may (Apple5).
  bool has_simdgroup_shuffles = false;
};

struct PhysicalDevice {
  Owned device;  // an MTLDevice
  sdk::DeviceDescription description;
  Capabilities capabilities;
  bool is_unified = false;  // the GPU and the host share their memory
};

// Apple's GPUs: others have simdgroups that are not of 32 threads, and copy only multiples of 4 bytes. Makes no queue
// and takes no memory of a device. Throws FE_NOT_FOUND if there is none.
std::vector<PhysicalDevice> find_devices();

}  // namespace ferrule::metal
