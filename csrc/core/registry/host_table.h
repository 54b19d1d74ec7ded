// The table of functions that the core gives every module.
#pragma once

#include <ferrule/backend.h>

namespace ferrule {

const fe_host* host_table() noexcept;

}  // namespace ferrule
