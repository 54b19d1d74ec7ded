// The options of load_all.
#pragma once

#include "core/loader/options/load_policy.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace ferrule {

struct LoadOptions {
  // Replaces the default roots. A folder that does not exist gives not_found.
  std::optional<std::vector<std::filesystem::path>> dirs;
  // Names of backends that must be loaded; check_required checks them.
  std::vector<std::string> require;
  // When not empty, only backends of these names are loaded.
  std::vector<std::string> only;
  Policy policy = default_policy();
  // The caller's own default roots, searched after the core's.
  std::vector<std::filesystem::path> extra_roots;
};

}  // namespace ferrule
