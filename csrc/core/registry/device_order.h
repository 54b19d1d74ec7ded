// The order in which devices are listed, and the words by which they are asked for.
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

// Which backend comes before which: as FERRULE_PREFER lists them, then by preference (the highest first), then by name.
class BackendOrder {
 public:
  // Names in lower case, the most preferred first.
  explicit BackendOrder(std::vector<std::string> preferred) : preferred_(std::move(preferred)) {}
  static BackendOrder from_environment();

  const std::vector<std::string>& preferred() const noexcept { return preferred_; }
  // Less is better. It refers to the backend's name.
  std::tuple<std::size_t, int64_t, std::string_view> place(const Backend& backend) const noexcept;

 private:
  std::vector<std::string> preferred_;
};

// By kind, backend, index.
void sort_devices(std::vector<std::shared_ptr<Device>>& devices, const BackendOrder& order);

// "<word>[:i]" in lower case: a word, and which of its devices.
struct DeviceName {
  std::string word;
  std::optional<std::size_t> index;
};
// Throws invalid_argument when it is no such string.
DeviceName parse_device_name(std::string_view text);

}  // namespace ferrule
