// A driver requirement as a module's manifest declares it.
#pragma once

#include <string>
#include <vector>

namespace ferrule {

// A driver library that must be on the machine.
struct DriverNeed {
  std::string library;            // a name for the system's loader, or an absolute path
  std::string title = {};         // for messages: "NVIDIA driver"
  std::string floor = {};         // the oldest accepted version, such as "550.54"; "" for any
  std::string version_file = {};  // holds the version; "" when the library's file name contains it
  // The remaining fields also affect which devices the driver lists, and so are part of a verdict's key.
  // Environment variables; "VK_*" stands for all with that prefix:
  std::vector<std::string> variables = {};
  std::vector<std::string> file_variables = {};  // variables that list files or folders that the driver reads
  std::vector<std::string> folders = {};         // read below each XDG base folder, such as "vulkan/icd.d"
  std::vector<std::string> state_files = {};     // absolute paths of text files with the versions of its other parts
  friend bool operator==(const DriverNeed&, const DriverNeed&) = default;
};

}  // namespace ferrule
