// Kernels that the emulated NVRTC compiles (nvrtc/nvrtc.cpp). Its machine code is a CompiledCode followed by a shared
// library, which has CUDA's variables of its own: such kernels cannot wait at barriers.
#pragma once

#include <cstdint>

#include "emulation/block.h"
#include "emulation/code_image.h"

namespace emulation {

// What cudaLibraryLoadData of the emulator takes as `code`, besides a CodeImage.
struct CompiledCode {
  static constexpr std::uint64_t right_magic = 0x6b65726e656c7332;
  std::uint64_t magic;
  std::uint64_t bytes;  // of the shared library behind it
};

// What the library exports, as `emulated_compiled_image`.
struct CompiledImage {
  const CodeImage* image;
  void (*set_indices)(const Index& thread, const Index& block, const Index& block_size, const Index& grid_size);
};

}  // namespace emulation
