// The table of kernels, generated from the KERNEL lines of the files of kernels/.
#pragma once

#include <string_view>

#include "plan.h"

namespace ferrule::vulkan {

const Kernel* find_kernel(std::string_view op);  // null when there is none

}  // namespace ferrule::vulkan
