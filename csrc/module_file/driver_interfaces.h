// The files that loaders of drivers read: which drivers and layers there are stands in JSON manifests in known places,
// not in the library that a module names. Data for core/platform/driver_files.h.
#pragma once

#include <span>
#include <string_view>

namespace ferrule::module_file {

struct DriverInterface {
  std::span<const std::string_view> libraries;   // beginnings of the loader's file name, lower case
  std::span<const char* const> variables;        // lists of files or folders
  std::string_view folder;                       // below each base folder of configuration and data (XDG)
  std::span<const std::string_view> subfolders;  // of `folder`
};

namespace vulkan {
// docs/LoaderDriverInterface.md and docs/LoaderLayerInterface.md of the Vulkan loader. VK_ICD_FILENAMES is the older
// name of VK_DRIVER_FILES.
inline constexpr std::string_view libraries[] = {"libvulkan", "vulkan-"};
inline constexpr const char* variables[] = {
    "VK_ICD_FILENAMES",  "VK_DRIVER_FILES",        "VK_ADD_DRIVER_FILES",       "VK_LAYER_PATH",
    "VK_ADD_LAYER_PATH", "VK_IMPLICIT_LAYER_PATH", "VK_ADD_IMPLICIT_LAYER_PATH"};
inline constexpr std::string_view subfolders[] = {"icd.d", "explicit_layer.d", "implicit_layer.d", "loader_settings.d"};
}  // namespace vulkan

inline constexpr DriverInterface driver_interfaces[] = {
    {vulkan::libraries, vulkan::variables, "vulkan", vulkan::subfolders},
};

}  // namespace ferrule::module_file
