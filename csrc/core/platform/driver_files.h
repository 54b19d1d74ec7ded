// The files that a driver's library reads, as the manifest of a module declares them: manifests of drivers and layers,
// and the libraries that they name. They decide what a module shows and does, and change without the driver's own
// library changing.
#pragma once

#include "core/platform/driver_need.h"

#include <filesystem>
#include <string>
#include <vector>

namespace ferrule {

// The places that the driver's file variables and folders name, files and folders; they need not exist. Not those that
// Windows keeps in its registry.
std::vector<std::filesystem::path> places_of_driver_files(const DriverNeed& driver);

// A text that is another one when a manifest of a driver or a layer, or a library that one names, is another file.
// Variables that switch layers on are not in it: they are part of a verdict's key.
std::string driver_files_state(const DriverNeed& driver);

}  // namespace ferrule
