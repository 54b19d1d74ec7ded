// Kernels that the emulated NVRTC compiles (nvrtc/nvrtc.cpp). Its machine code is a CompiledCode followed by a shared
// library, which has CUDA's variables of its own: such kernels cannot wait at barriers.
#pragma once

#include <cstdint>

#include "emulation/block.h"
#include "emulation/code_image.h"

namespace emulation {

// Another `code` that the emulator's cudaLibraryLoadData takes, besides a CodeImage.
struct CompiledCode {
  static constexpr std::uint64_t right_magic = 0x6b65726e656c7332;
  std::uint64_t magic;
  std::uint64_t bytes;  // of the shared library behind it
};

// The type of `emulated_compiled_image`, which the library exports.
struct CompiledImage {
  const CodeImage* image;
  void (*set_indices)(const Index& thread, const Index& block, const Index& block_size, const Index& grid_size);
};

}  // namespace emulation
