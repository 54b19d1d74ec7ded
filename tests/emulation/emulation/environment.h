// Settings from environment variables that kernels of CUDA and of Metal have in common.
#pragma once

#include <chrono>

namespace emulation {

// Ends the process for a value that is not understood.
[[noreturn]] void refuse(const char* variable, const char* text, const char* wanted);

// The time that a block may take of the processor, FERRULE_EMULATION_BLOCK_SECONDS; 0 is any. It is read once.
std::chrono::seconds block_limit();

}  // namespace emulation
