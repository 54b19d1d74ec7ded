// The order in which devices are listed.
#pragma once

#include "core/registry/device.h"

#include <memory>
#include <string>
#include <vector>

namespace ferrule {

// By kind, preference (the highest first), backend's name, index.
void sort_devices(std::vector<std::shared_ptr<Device>>& devices);

// "<word>[:i]" in lower case: a word, and which of its devices.
struct DeviceName {
  std::string word;
  std::size_t index = 0;
};
// Throws invalid_argument when it is no such string.
DeviceName parse_device_name(std::string_view text);

}  // namespace ferrule
