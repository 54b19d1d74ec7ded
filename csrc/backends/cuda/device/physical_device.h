// The devices that the driver lists.
#pragma once

#include <ferrule/backend.hpp>

#include <cstdint>
#include <vector>

namespace ferrule::cuda {

// Properties that kernels depend on.
struct Capabilities {
  int compute = 0;  // compute capability: 90 for 9.0
  uint32_t multiprocessors = 1;
  uint32_t shared_memory = 49152;  // bytes of a block, for a kernel that asks for as many
  bool has_wgmma = false;          // and TMA: the module has code for them, and the driver encodes tensor maps
  bool uses_tf32 = false;          // products of float32 round their operands to tf32; from 80 on
};

struct PhysicalDevice {
  int number = 0;  // of the CUDA runtime
  sdk::DeviceDescription description;
  Capabilities capabilities;
  bool registers_read_only = false;  // host memory, for reading alone
  bool reads_pageable = false;       // kernels use all memory of the process by the host's addresses
};

// Asks the driver without creating a context. Throws, with one sentence, if there is no device that can be used:
// FE_NOT_FOUND if the machine has none, FE_UNSUPPORTED if the driver is too old or devices are refused.
std::vector<PhysicalDevice> find_devices();

}  // namespace ferrule::cuda
