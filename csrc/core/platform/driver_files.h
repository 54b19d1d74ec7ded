// What the system's loader of drivers would read: manifests of drivers and layers, and the libraries that they name.
// They decide what a module shows and does, and change without the loader's own library changing.
#pragma once

#include "module_file/driver_interfaces.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ferrule {

// Whether a library, a name or a path, is the loader that reads the files of this interface.
bool is_loader_of(const module_file::DriverInterface& driver_interface, std::string_view library);

// The places that the variables and the standards name, files and folders; they need not exist. Not those that Windows
// keeps in its registry.
std::vector<std::filesystem::path> places_of_driver_files(const module_file::DriverInterface& driver_interface);

// A text that is another one when a manifest of a driver or a layer, or a library that one names, is another file.
// Variables that switch layers on are not in it: they are part of a verdict's key.
std::string driver_files_state(const module_file::DriverInterface& driver_interface);

}  // namespace ferrule
