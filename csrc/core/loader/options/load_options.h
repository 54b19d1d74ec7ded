// What the caller of load_all asks for.
#pragma once

#include "core/loader/options/load_policy.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace ferrule {

struct LoadOptions {
  // Replaces the default roots. A folder that does not exist is not_found.
  std::optional<std::vector<std::filesystem::path>> dirs;
  // Names that must be loaded in the end: what check_required looks at.
  std::vector<std::string> require;
  // Other names are left out, when this is not empty.
  std::vector<std::string> only;
  Policy policy = default_policy();
  // Default roots that the caller knows of, after our own.
  std::vector<std::filesystem::path> extra_roots;
};

}  // namespace ferrule
