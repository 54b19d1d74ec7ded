// The properties, options and memory of a device, as its module reports them.
#pragma once

#include <ferrule/backend.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ferrule {

using DeviceOptions = std::map<std::string, std::string>;

// fe_device_properties with copied strings, which outlive the module.
struct DeviceProperties {
  fe_device_kind kind = FE_DEVICE_CPU;
  uint32_t flags = 0;
  std::string name;
  std::string description;
  uint64_t total_memory = 0;      // bytes; 0 = unknown
  uint64_t max_allocation = 0;    // bytes; 0 = no limit known
  uint64_t borrow_alignment = 0;  // 0 = host memory cannot be borrowed
  std::optional<std::array<uint8_t, 16>> uuid;
  std::string pci_address;
  uint32_t queue_kinds = 0;  // bits, 1 << fe_queue_kind
};

struct DeviceOptionInfo {
  std::string key, type, doc;
};

struct DeviceMemory {
  std::optional<uint64_t> free;  // bytes; unknown until the device is open
  uint64_t total = 0;            // bytes; 0 = unknown
};

// Whether both describe the same device: kind, name, UUID and PCI address are equal.
bool is_same_device(const DeviceProperties& a, const DeviceProperties& b);

// Reads the properties of one device of a module.
DeviceProperties read_properties(const fe_backend& table, uint32_t index);
// Reads the options that the devices of a module have.
std::vector<DeviceOptionInfo> read_options(const fe_backend& table);

}  // namespace ferrule
