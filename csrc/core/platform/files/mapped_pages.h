// The memory of a file that is mapped.
#pragma once

#include <cstdint>

namespace ferrule {

// Gives the pages that contain these bytes back to the system, which reads them from the file again when they are
// needed. Only for a shared mapping of a file: other memory would lose its contents. Does nothing on Windows.
void drop_mapped_pages(void* begin, uint64_t size) noexcept;

}  // namespace ferrule
