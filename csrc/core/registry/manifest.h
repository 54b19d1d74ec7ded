// What the file beside a module tells of it.
#pragma once

#include "module_file/abi_version.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ferrule {

// A library of a driver that must be on the machine.
struct DriverNeed {
  std::string library;       // a name as the system's loader takes it, or an absolute path
  std::string floor;         // the oldest version that will do, "550.54"; "" for any
  std::string version_file;  // that tells the version; "" when the name of the library's file does
  friend bool operator==(const DriverNeed&, const DriverNeed&) = default;
};

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
