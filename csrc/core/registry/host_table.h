// The table of functions that the core gives every module.
#pragma once

#include <ferrule/backend.h>

namespace ferrule {

const fe_host* host_table() noexcept;

// Sets the function that is called when a module announces a new device of its backend.
void set_device_listener(void (*listener)(const fe_module_backend* backend)) noexcept;

}  // namespace ferrule
