// Where a module's own libraries are looked for.
#pragma once

#include "module_file/image.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ferrule {

// A sentence when the module would take libraries from wherever the current directory happens to be; "" when not.
std::string complaint_about_relative_paths(const module_file::Image& image);

// The folders of its run paths, for a module that lies in `folder`.
std::vector<std::filesystem::path> folders_of_run_paths(const module_file::Image& image,
                                                        const std::filesystem::path& folder);

}  // namespace ferrule
