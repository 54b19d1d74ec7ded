// Finds the versions of this machine's drivers without opening a library.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace ferrule {

// Compares dotted versions. Missing numbers count as zero: "550" is not older than "550.0".
bool is_older(std::string_view version, std::string_view other);

// The version of a driver: from its version file when one is named ("" for none), else from the name of the file that
// its library's name links to (libcuda.so.1 -> libcuda.so.550.54.14). nullopt when that shows no version.
std::optional<std::string> driver_version(const std::string& library, const std::string& version_file);

// A line with the path and the first bytes of a driver's version file; "" when the file does not exist or is empty.
std::string line_about_version_file(const std::filesystem::path& path);

}  // namespace ferrule
