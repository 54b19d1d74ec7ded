// Opens the shared libraries that the emulated NVRTC makes.
#pragma once

#include <memory>

#include "emulation/compiled_code.h"

namespace emulation {

// Closes the library with the last copy. Null if the bytes are none that can be opened.
std::shared_ptr<const CompiledImage> open_compiled(const CompiledCode& code);

}  // namespace emulation
