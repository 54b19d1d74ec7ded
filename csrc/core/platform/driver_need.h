// What a module's manifest declares of a driver.
#pragma once

#include <string>
#include <vector>

namespace ferrule {

// A library of a driver that must be on the machine.
struct DriverNeed {
  std::string library;            // a name as the system's loader takes it, or an absolute path
  std::string floor = {};         // the oldest version that will do, "550.54"; "" for any
  std::string version_file = {};  // that tells the version; "" when the name of the library's file does
  // What else decides what the driver shows, and so is part of the key of a verdict. Variables of the environment;
  // "VK_*" stands for all that begin so:
  std::vector<std::string> variables = {};
  std::vector<std::string> file_variables = {};  // each a list of files or folders that the driver reads
  std::vector<std::string> folders = {};         // that it reads, "vulkan/icd.d", below each base folder of XDG
  std::vector<std::string> state_files = {};     // absolute paths of texts that tell versions of its other parts
  friend bool operator==(const DriverNeed&, const DriverNeed&) = default;
};

}  // namespace ferrule
