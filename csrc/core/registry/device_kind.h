// The names of device kinds.
#pragma once

#include <ferrule/types.h>

#include <optional>
#include <string_view>

namespace ferrule {

// The name of a kind, such as "integrated_gpu"; and the kind of a name, nullopt when it is unknown.
const char* name_of(fe_device_kind kind) noexcept;
std::optional<fe_device_kind> device_kind(std::string_view name) noexcept;

}  // namespace ferrule
