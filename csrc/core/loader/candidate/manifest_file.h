// Reads the manifest beside a module.
#pragma once

#include "core/registry/manifest.h"

#include <filesystem>
#include <string>

namespace ferrule {

// The manifest's path: "libferrule-cpu-haswell.json" for "libferrule-cpu-haswell.so".
std::filesystem::path manifest_path(const std::filesystem::path& module);

// Throws invalid_argument. Its message completes a sentence about the manifest.
Manifest parse_manifest(const std::string& text);

}  // namespace ferrule
