// How much memory this process can have.
#pragma once

#include <cstdint>
#include <filesystem>

namespace ferrule::cpu {

struct HostMemory {
  uint64_t available = 0;  // bytes that can be had without swapping: caches of files, which Linux gives up, included
  uint64_t total = 0;      // bytes
};

// The memory of the machine, or of the container where that has less: what cgroups, of version 1 or 2, let the process
// have. `root` is where /proc and /sys are.
HostMemory host_memory(const std::filesystem::path& root = "/");

}  // namespace ferrule::cpu
