// The kernels of the variant that this module was built with.
#pragma once

#include <ferrule/procs.h>

#include <span>
#include <string_view>

#include "kernel.h"

namespace ferrule::cpu {

// Generated from the KERNEL and ELEMENTWISE lines of the files of kernels/.
const KernelTable& table();

// The variant, and what of the processor its kernels use; as a list and as text.
std::span<const fe_feature> features();
const char* features_text();

// The kernel with block functions for an op, or null.
const Kernel* find_elementwise(std::string_view op);

}  // namespace ferrule::cpu
