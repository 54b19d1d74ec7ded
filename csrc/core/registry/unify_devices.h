// Which devices, as backends see them, are one physical device.
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

// What a backend says of who a device is.
struct DeviceIdentity {
  std::string backend;
  std::optional<DeviceUuid> uuid;
  std::string pci_address;  // "" when it has none
  bool is_simulated = false;
};

// Groups of indices into `devices`: each group is one physical device, which a backend sees at most once. Two views are
// one device when they have the same UUID, or, where one of them has none, the same PCI address; else never. What holds
// when these rules disagree is said in unify.cpp. The groups do not depend on the order of `devices`; they, and the
// indices within, are listed in it.
std::vector<std::vector<std::size_t>> unify(std::span<const DeviceIdentity> devices);

// "0000:01:00.0" of "1:0", "01:00.0", "00000000:01:00.0" and the like; nothing when it is no address of a device.
std::optional<std::string> normal_pci_address(std::string_view text);

}  // namespace ferrule
