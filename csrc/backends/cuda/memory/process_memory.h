// Memory of the process that kernels use by its addresses.
#pragma once

#include <cstdint>

namespace ferrule::cuda {

// Whether the system's kernel can find the pages of a range, as the driver asks it to when a kernel uses them. It does
// not for a mapping of a device's memory (VM_IO, VM_PFNMAP) or behind the end of a file: kernels would end with an
// illegal address. Looks at both ends, in a few microseconds. /proc/self/smaps would tell the flags of each mapping,
// but walks the pages of all of them.
bool has_pages(const void* pointer, uint64_t size);

}  // namespace ferrule::cuda
