// Reads the file beside a module.
#pragma once

#include "core/registry/manifest.h"

#include <filesystem>
#include <string>

namespace ferrule {

// "libferrule-cpu-haswell.json" for "libferrule-cpu-haswell.so".
std::filesystem::path manifest_path(const std::filesystem::path& module);

// Throws invalid_argument with what is wrong, as a part of a sentence about the manifest.
Manifest parse_manifest(const std::string& text);

}  // namespace ferrule
