// CPUs of this machine.
#pragma once

#include <cstdint>

namespace ferrule {

// CPUs that this process may run on, at least 1.
uint32_t available_cpus() noexcept;

}  // namespace ferrule
