// Where a module's own libraries are looked for.
#pragma once

#include "sdk/tools/image.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ferrule {

// A sentence when the module would take libraries from wherever the current directory happens to be; "" when not.
std::string complaint_about_relative_paths(const tools::Image& image);

// The folders of its run paths, for a module that lies in `folder`.
std::vector<std::filesystem::path> folders_of_run_paths(const tools::Image& image, const std::filesystem::path& folder);

}  // namespace ferrule
