// What the file beside a module tells of it.
#pragma once

#include "sdk/tools/abi_version.h"

#include <cstdint>
#include <map>
#include <optional>
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

struct Manifest {
  std::string name;
  std::string variant;
  std::string version;  // of the module, for people
  std::vector<std::string> device_kinds;
  tools::AbiVersion abi;
  std::string sha256;  // 64 hexadecimal digits, lower case
  uint64_t size = 0;   // of the file, in bytes
  // SHA-256 of each library that comes with it, by its path from the module's folder.
  std::map<std::string, std::string> libraries;
  int rank = 0;        // among the variants of one name in one root: the highest is opened
  int preference = 0;  // among the backends of one kind of device: the highest comes first
  std::vector<std::string> cpu_features;
  std::vector<DriverNeed> driver;
  std::vector<std::string> architectures;
  std::vector<std::string> ops;
};

}  // namespace ferrule
