// The folders in which a module's libraries are searched.
#pragma once

#include "module_file/image.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ferrule {

// A sentence when the module would load libraries relative to the current directory; "" otherwise.
std::string complaint_about_relative_paths(const module_file::Image& image);

// The folders of a module's run paths; the module itself lies in `folder`.
std::vector<std::filesystem::path> folders_of_run_paths(const module_file::Image& image,
                                                        const std::filesystem::path& folder);

}  // namespace ferrule
