// The libraries of drivers on this machine and their versions, found out without opening a library.
#pragma once

#include "core/loader/candidate.h"
#include "core/registry/manifest.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace ferrule {

// Where the system's loader finds a library: `library` is a name ("libm.so.6") or an absolute path. Nothing when it is
// not there; where the system's libraries need not be files (macOS), the name itself.
std::optional<std::filesystem::path> find_library(const std::string& library);

// Dotted numbers, of which those that are missing are zeros: "550" is not older than "550.0".
bool is_older(std::string_view version, std::string_view other);

// The version that a driver has by its version file, else by the name of the file behind its library's name
// (libcuda.so.1 -> libcuda.so.550.54.14). Nothing when it does not tell.
std::optional<std::string> driver_version(const DriverNeed& need);

// Why a driver will not do, as a sentence; "" when it will, as far as can be told.
std::string complaint_about_driver(const DriverNeed& need);

// A text that changes when a driver does, or what it shows. It tells which files lie behind the libraries that the
// manifest names, that come with the module, and that these or the module are linked with, and what else the manifest
// declares of its drivers: variables of the environment, the files that they read (driver_files.h), and versions of
// their other parts. The C library does not count.
std::string libraries_state(const Candidate& candidate);

}  // namespace ferrule
