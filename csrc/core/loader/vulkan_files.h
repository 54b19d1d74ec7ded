// What the Vulkan loader of the system would read: manifests of drivers and layers, and the libraries that they name.
// They decide what a module that uses Vulkan shows and does, and change without the loader's own library changing.
#pragma once

#include "core/registry/manifest.h"

#include <filesystem>
#include <string>
#include <vector>

namespace ferrule {

// Whether the manifest names the Vulkan loader among the drivers.
bool uses_vulkan(const Manifest& manifest);

// The places that the variables and the standards name, files and folders; they need not exist. Not those that Windows
// keeps in its registry.
std::vector<std::filesystem::path> places_of_vulkan_files();

// A text that is another one when a manifest of a driver or a layer, or a library that one names, is another file.
// Which layers are switched on by VK_INSTANCE_LAYERS and its like is not in it: those variables are part of a verdict's
// key.
std::string vulkan_files_state();

}  // namespace ferrule
