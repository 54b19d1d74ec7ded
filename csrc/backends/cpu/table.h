// The kernels of this module's variant.
#pragma once

#include <ferrule/procs.h>

#include <span>
#include <string_view>

#include "kernel.h"

namespace ferrule::cpu {

// Generated from the KERNEL and ELEMENTWISE lines of the files of kernels/.
const KernelTable& table();

// The variant and the processor features that its kernels use, as a list and as text.
std::span<const fe_feature> features();
const char* features_text();

// "variant zen4 (AVX-512 BF16)": variants are named after the first processors that can run them, of any maker.
const char* description();

// The kernel of an elementwise op, with its table of ElementwiseKernel; null if there is none.
const Kernel* find_elementwise(std::string_view op);

}  // namespace ferrule::cpu
