// The order in which devices are listed, and the syntax of their names.
#pragma once

#include "core/registry/device.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace ferrule {

// The order of backends: as FERRULE_PREFER lists them, then by preference (the highest first), then
// one that is named like the kind of the device, then by name.
class BackendOrder {
 public:
  // `preferred` has names in lower case, the most preferred first.
  explicit BackendOrder(std::vector<std::string> preferred) : preferred_(std::move(preferred)) {}
  static BackendOrder from_environment();

  const std::vector<std::string>& preferred() const noexcept { return preferred_; }
  // The sort key of a device's backend; lower is preferred. It refers to the backend's name.
  std::tuple<std::size_t, int64_t, bool, std::string_view> place(const Device& device) const noexcept;

 private:
  std::vector<std::string> preferred_;
};

// Sorts by kind, backend, index.
void sort_devices(std::vector<std::shared_ptr<Device>>& devices, const BackendOrder& order);

// A parsed device name, "<word>[:i]": the word in lower case, and the index if given.
struct DeviceName {
  std::string word;
  std::optional<std::size_t> index;
};
// Throws invalid_argument when the text is not a device name.
DeviceName parse_device_name(std::string_view text);

}  // namespace ferrule
