// The table of kernels, generated from the KERNEL lines of kernels/*.cpp.
#pragma once

#include <string_view>

#include "plan.h"

namespace ferrule::vulkan {

const Kernel* find_kernel(std::string_view op);  // null when there is none

}  // namespace ferrule::vulkan
