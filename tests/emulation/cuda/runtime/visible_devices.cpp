#include "cuda/runtime/visible_devices.h"

#include <charconv>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>

namespace emulation {
namespace {

// Formats a UUID as nvidia-smi does: "GPU-656d756c-6174-6564-2d30-300000000000".
std::string text_of(const Uuid& uuid, std::string_view kind) {
  std::string text(kind);
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(uuid[i]));
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += digits;
  }
  return text;
}

// The device that an entry names: by its number, or by a beginning of its UUID that no other device has.
std::optional<VisibleDevice> named(std::string_view entry, std::size_t gpus, std::size_t instances) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(entry.data(), entry.data() + entry.size(), number);
  if (error == std::errc() && end == entry.data() + entry.size()) {
    if (number >= gpus) return std::nullopt;
    return VisibleDevice{number, instances == 0 ? 0U : 1U};
  }
  std::optional<VisibleDevice> found;
  const auto consider = [&](VisibleDevice device, std::string_view kind) {
    if (entry.size() <= kind.size() || !text_of(uuid_of(device.gpu, device.instance), kind).starts_with(entry))
      return true;
    if (found) return false;
    found = device;
    return true;
  };
  for (std::size_t gpu = 0; gpu < gpus; ++gpu) {
    if (instances == 0 && !consider({gpu, 0}, "GPU-")) return std::nullopt;
    for (std::size_t instance = 1; instance <= instances; ++instance)
      if (!consider({gpu, instance}, "MIG-")) return std::nullopt;
  }
  return found;
}

}  // namespace

Uuid uuid_of(std::size_t gpu, std::size_t instance) {
  Uuid uuid{};
  if (instance == 0)
    std::snprintf(uuid.data(), uuid.size(), "emulated-%02zu", gpu % 100);
  else
    std::snprintf(uuid.data(), uuid.size(), "emulated-%02zu/%zu", gpu % 100, instance % 10);
  return uuid;
}

std::vector<VisibleDevice> visible_devices(std::size_t gpus, std::size_t instances, const char* variable) {
  std::vector<VisibleDevice> visible;
  if (variable == nullptr) {
    for (std::size_t gpu = 0; gpu < gpus; ++gpu) visible.push_back({gpu, instances == 0 ? 0U : 1U});
  } else {
    std::string_view rest = variable;
    for (bool is_last = false; !is_last;) {
      const std::size_t comma = rest.find(',');
      is_last = comma == std::string_view::npos;
      const std::optional<VisibleDevice> device = named(rest.substr(0, comma), gpus, instances);
      if (!device) break;
      visible.push_back(*device);
      if (!is_last) rest.remove_prefix(comma + 1);
    }
  }
  if (instances != 0 && visible.size() > 1) visible.resize(1);
  return visible;
}

}  // namespace emulation
