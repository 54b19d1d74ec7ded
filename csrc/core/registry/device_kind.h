// Kinds of device by name.
#pragma once

#include <ferrule/types.h>

#include <optional>
#include <string_view>

namespace ferrule {

// "integrated_gpu"; and back, nothing when it is no kind.
const char* name_of(fe_device_kind kind) noexcept;
std::optional<fe_device_kind> device_kind(std::string_view name) noexcept;

}  // namespace ferrule
