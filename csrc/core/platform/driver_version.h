// The versions of drivers on this machine, found out without opening a library.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace ferrule {

// Dotted numbers, of which those that are missing are zeros: "550" is not older than "550.0".
bool is_older(std::string_view version, std::string_view other);

// The version that a driver tells in its version file, which wins where it is named ("" for none), else in the name of
// the file behind its library's name (libcuda.so.1 -> libcuda.so.550.54.14). Nothing when it does not tell.
std::optional<std::string> driver_version(const std::string& library, const std::string& version_file);

// A line with the path and the beginning of the text of a driver's version file; "" where there is no such file.
std::string line_about_version_file(const std::filesystem::path& path);

}  // namespace ferrule
