// The memory that is available to this process.
#pragma once

#include <cstdint>
#include <filesystem>

namespace ferrule::cpu {

struct HostMemory {
  uint64_t available = 0;  // bytes available without swapping, including file caches that Linux can drop
  uint64_t total = 0;      // bytes
};

// Memory of the machine, or the limit of the container if that is lower: of cgroups, version 1 or 2. `root`: the folder
// of /proc and /sys.
HostMemory host_memory(const std::filesystem::path& root = "/");

}  // namespace ferrule::cpu
