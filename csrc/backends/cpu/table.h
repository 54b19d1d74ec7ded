// The kernels of the variant that this module was built with.
#pragma once

#include <string_view>

#include "kernel.h"

namespace ferrule::cpu {

// Generated from the KERNEL and ELEMENTWISE lines of kernels/*.cpp.
const KernelTable& table();

// The kernel with block functions for an op, or null.
const Kernel* find_elementwise(std::string_view op);

}  // namespace ferrule::cpu
