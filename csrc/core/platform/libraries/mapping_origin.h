// Finds which file the memory of this process is mapped from.
#pragma once

#include <optional>

namespace ferrule {

// Whether the memory at an address is mapped from the file that a descriptor has open. nullopt when the system does
// not provide this.
std::optional<bool> is_mapped_from(const void* address, int descriptor);

// The same, using only the list of mappings, which older kernels have as well.
std::optional<bool> is_listed_from(const void* address, int descriptor);

}  // namespace ferrule
