// Reads the POSIX access list of a file on Linux from its extended attribute.
#pragma once

#include "core/platform/file_writers.h"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace ferrule {

// Those of the list's named users and groups, and of the file's own group, to which it gives write permission. nullopt
// when the attribute is not an access list of the known version.
std::optional<std::vector<Writer>> writers_in_access_list(std::span<const std::byte> attribute, uint32_t group);

}  // namespace ferrule
