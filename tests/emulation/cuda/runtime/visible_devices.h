// CUDA_VISIBLE_DEVICES, as the CUDA C++ Programming Guide describes it.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

namespace emulation {

struct VisibleDevice {
  std::size_t gpu = 0, instance = 0;  // of the machine
};

using Uuid = std::array<char, 16>;
// `instance` is that of MIG, from 1 on; 0 is the whole GPU.
Uuid uuid_of(std::size_t gpu, std::size_t instance);

// The devices of a machine with so many GPUs, each in so many MIG instances (0: MIG is off), that a process sees in
// this order. `variable` is null if it is not set. A list ends before its first invalid entry. With MIG a process sees
// one instance.
std::vector<VisibleDevice> visible_devices(std::size_t gpus, std::size_t instances, const char* variable);

}  // namespace emulation
