#include "core/registry/device_order.h"

#include "core/environment.h"
#include "core/registry/backend.h"
#include "core/registry/device_kind.h"

#include <algorithm>
#include <charconv>

namespace ferrule {

BackendOrder BackendOrder::from_environment() { return BackendOrder(environment_names("FERRULE_PREFER")); }

std::tuple<std::size_t, int64_t, bool, std::string_view> BackendOrder::place(const Device& device) const noexcept {
  const Backend& backend = *device.backend();
  const auto found = std::find(preferred_.begin(), preferred_.end(), backend.name());
  return {static_cast<std::size_t>(found - preferred_.begin()), -static_cast<int64_t>(backend.preference()),
          backend.name() != name_of(device.kind()), backend.name()};
}

void sort_devices(std::vector<std::shared_ptr<Device>>& devices, const BackendOrder& order) {
  const auto key = [&](const Device& device) {
    return std::make_tuple(device.kind(), order.place(device), device.index());
  };
  std::stable_sort(devices.begin(), devices.end(), [&](const auto& a, const auto& b) { return key(*a) < key(*b); });
}

DeviceName parse_device_name(std::string_view text) {
  DeviceName out;
  const std::size_t colon = text.find(':');
  out.word = lower_case(text.substr(0, colon));
  if (colon != std::string_view::npos) {
    const std::string_view digits = text.substr(colon + 1);
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), out.index.emplace());
    if (problem != std::errc() || end != digits.data() + digits.size())
      fail_argument("'{}' is not a device name: a number must follow the colon, as in '{}:0'", text, out.word);
  }
  if (out.word.empty()) fail_argument("'{}' is not a device name; use '<backend or kind>[:<number>]'", text);
  return out;
}

}  // namespace ferrule
