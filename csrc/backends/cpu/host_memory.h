// The memory that is available to this process.
#pragma once

#include <cstdint>
#include <filesystem>

namespace ferrule::cpu {

struct HostMemory {
  uint64_t available = 0;  // bytes available without swapping, including file caches that the system can drop
  uint64_t total = 0;      // bytes
};

// Memory of the machine, or on Linux the limit of the container if that is lower: of cgroups, version 1 or 2. `root`:
// the folder of /proc and /sys. Zeros if the system does not say it.
HostMemory host_memory(const std::filesystem::path& root = "/");

}  // namespace ferrule::cpu
