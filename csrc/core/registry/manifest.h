// The contents of a module's manifest.
#pragma once

#include "core/platform/drivers/driver_need.h"
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
  std::string version;  // the module's version, for display
  std::vector<std::string> device_kinds;
  module_file::AbiVersion abi;
  std::string sha256;       // 64 hexadecimal digits, lower case
  std::string code_sha256;  // of its code and constants (module_file/code_hash.h); "" where the format has none
  uint64_t size = 0;        // the size of the module's file in bytes
  // The SHA-256 of each library that comes with it, by its path relative to the module's folder.
  std::map<std::string, std::string> libraries;
  int rank = 0;        // orders the variants of one name in one root: the highest is opened
  int preference = 0;  // orders the backends of one device kind: the highest comes first
  std::vector<std::string> cpu_features;
  std::vector<DriverNeed> driver;
  std::vector<std::string> architectures;
  std::vector<std::string> ops;
};

}  // namespace ferrule
