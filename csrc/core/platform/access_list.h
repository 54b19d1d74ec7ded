// The access list of a file on Linux, as its attribute has it.
#pragma once

#include "core/platform/file_writers.h"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace ferrule {

// Users and groups that the list names and lets write, with the file's group. Nothing when it is no list of the known
// version.
std::optional<std::vector<Writer>> writers_in_access_list(std::span<const std::byte> attribute, uint32_t group);

}  // namespace ferrule
