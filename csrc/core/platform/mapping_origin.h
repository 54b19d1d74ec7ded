// Which file the memory of this process comes from, as the kernel has it.
#pragma once

#include <optional>

namespace ferrule {

// Whether the memory at an address is mapped from the very file that a descriptor is open on. Nothing where the system
// does not tell.
std::optional<bool> is_mapped_from(const void* address, int descriptor);

// As above, by the list of mappings alone, which older kernels have, too.
std::optional<bool> is_listed_from(const void* address, int descriptor);

}  // namespace ferrule
