// Finds a library as the system's loader would, without opening it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace ferrule {

// The path of a library, given by name ("libm.so.6") or absolute path; nullopt when it is not found. On macOS, where
// system libraries need not be files, the name itself.
std::optional<std::filesystem::path> find_library(const std::string& library);
// A sentence about a library's file that the system's loader cannot open, or that would crash it ("the file is empty");
// "" if there is none. Reads headers only; elsewhere than on Linux, nothing.
std::string damage_of_library(const std::filesystem::path& path);

#if defined(__linux__) || defined(_WIN32)
// The path of the library in the first folder that has it, on Linux built for this machine. Relative folders are
// skipped: they would depend on the current directory.
std::optional<std::filesystem::path> find_library_in(const std::vector<std::filesystem::path>& folders,
                                                     const std::string& library);
#endif

}  // namespace ferrule
