// What the file beside a module tells of it.
#pragma once

#include "core/platform/driver_need.h"
#include "module_file/abi_version.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ferrule {

struct Manifest {
  std::string name;
  std::string variant;
  std::string version;  // of the module, for people
  std::vector<std::string> device_kinds;
  module_file::AbiVersion abi;
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
