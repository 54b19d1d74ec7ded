// What the file beside a module tells of it.
#pragma once

#include "sdk/tools/abi_version.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ferrule {

struct Manifest {
  std::string name;
  std::string variant;
  std::vector<std::string> device_kinds;
  tools::AbiVersion abi;
  std::string sha256;  // 64 hexadecimal digits, lower case
  uint64_t size = 0;   // of the file, in bytes
  int rank = 0;        // among the variants of one name in one root: the highest is opened
  int preference = 0;  // among the backends of one kind of device: the highest comes first
  std::vector<std::string> cpu_features;
  std::vector<std::string> driver;  // libraries that must be on the machine
  std::vector<std::string> architectures;
  std::vector<std::string> ops;
};

}  // namespace ferrule
