#include "core/registry/device_kind.h"

#include <algorithm>
#include <array>

namespace ferrule {
namespace {

constexpr std::array kind_names = {"gpu", "integrated_gpu", "accelerator", "remote", "cpu", "software", "test"};
static_assert(kind_names.size() == FE_DEVICE_KIND_COUNT);

}  // namespace

const char* name_of(fe_device_kind kind) noexcept {
  return kind >= 0 && kind < FE_DEVICE_KIND_COUNT ? kind_names[static_cast<std::size_t>(kind)] : "unknown";
}

std::optional<fe_device_kind> device_kind(std::string_view name) noexcept {
  const auto found = std::find(kind_names.begin(), kind_names.end(), name);
  if (found == kind_names.end()) return std::nullopt;
  return static_cast<fe_device_kind>(found - kind_names.begin());
}

}  // namespace ferrule
