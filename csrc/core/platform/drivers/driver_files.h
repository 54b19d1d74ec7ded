// The files that a driver's library reads, as a module's manifest declares them: driver and layer manifests, and the
// libraries that they name. They affect which devices a module lists and what it does, and can change while the
// driver's own library stays the same.
#pragma once

#include "core/platform/drivers/driver_need.h"

#include <filesystem>
#include <string>
#include <vector>

namespace ferrule {

// The files and folders that the driver's file variables and folders name. They need not exist. Places listed in the
// Windows registry are not included.
std::vector<std::filesystem::path> places_of_driver_files(const DriverNeed& driver);

// A text that changes when a driver or layer manifest, or a library that one names, is replaced or modified.
// Environment variables that enable layers are not included: they are part of a verdict's key.
std::string driver_files_state(const DriverNeed& driver);

}  // namespace ferrule
