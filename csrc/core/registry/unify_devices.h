// Finds which of the backends' devices are the same physical device.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ferrule {

using DeviceUuid = std::array<uint8_t, 16>;

// The identity of a device, as its backend gives it.
struct DeviceIdentity {
  std::string backend;
  std::optional<DeviceUuid> uuid;
  std::string pci_address;  // "" when it has none
  bool is_simulated = false;
};

// Groups indices into `devices`: each group is one physical device, which a backend sees at most once. Two views are
// one device when they have the same UUID, or when one of them has no UUID and they have the same PCI address.
// unify_devices.cpp says what happens when these rules disagree. The grouping does not depend on the order of
// `devices`; groups and their indices are sorted in that order.
std::vector<std::vector<std::size_t>> unify(std::span<const DeviceIdentity> devices);

// The normal form "0000:01:00.0" of "1:0", "01:00.0", "00000000:01:00.0" and the like; nullopt when the text is not
// the address of a device.
std::optional<std::string> normal_pci_address(std::string_view text);

}  // namespace ferrule
