// Compiles texts in MSL by clang to shared libraries, and keeps these on disk.
#pragma once

#include <string>
#include <string_view>

#include "metal/msl_library.h"

namespace emulation::metal {

// Returns the path of the shared library of this text, which may have been compiled earlier, by any process. Throws
// CompileError.
std::string compiled_library(std::string_view text, const CompileOptions& options);

// Removes the library at `path`, which compiled_library() returned and which could not be loaded.
void forget_library(const std::string& path);

}  // namespace emulation::metal
