// Where the system's loader finds a library, without opening it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace ferrule {

// Where the system's loader finds a library: `library` is a name ("libm.so.6") or an absolute path. Nothing when it is
// not there; where the system's libraries need not be files (macOS), the name itself.
std::optional<std::filesystem::path> find_library(const std::string& library);

#if defined(__linux__)
// The library of this name in the first of the folders that has it, built for this machine. Relative folders, which
// would be the current directory's, are passed over.
std::optional<std::filesystem::path> find_library_in(const std::vector<std::string>& folders,
                                                     const std::string& library);
#endif

}  // namespace ferrule
