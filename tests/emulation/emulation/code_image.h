// The kernels of a module. FERRULE_KERNEL records each one in the section "emulated_kernels"; the linker gives every
// module the bounds of its own section, so there is no list to keep and nothing runs when a module is loaded.
//
//   cudaLibraryLoadData(&library, &emulation::own_code_image, nullptr, nullptr, 0, nullptr, nullptr, 0);
//
// The object files with the kernels must be linked into the module directly, or as an object library: a linker takes
// nothing from an archive that nobody refers to.
#pragma once

#include <cstddef>
#include <cstdint>

namespace emulation {

struct KernelRecord {
  const char* name;
  void (*call)(const void* parameters);
  std::size_t parameter_bytes;
  unsigned most_threads;  // of a block
};

// The `code` that the emulator's cudaLibraryLoadData takes. A null between begin and end is padding.
struct CodeImage {
  static constexpr std::uint64_t right_magic = 0x6b65726e656c7331;
  std::uint64_t magic;
  const KernelRecord* const* begin;
  const KernelRecord* const* end;
};

}  // namespace emulation

// Weak, for a module without kernels.
extern "C" {
[[gnu::weak, gnu::visibility("hidden")]] extern const emulation::KernelRecord* __start_emulated_kernels[];
[[gnu::weak, gnu::visibility("hidden")]] extern const emulation::KernelRecord* __stop_emulated_kernels[];
}

namespace emulation {

// The kernels of the module that reads this constant. Every translation unit has its own, so the dynamic linker cannot
// replace it by that of another module.
[[maybe_unused]] static constexpr CodeImage own_code_image = {CodeImage::right_magic, __start_emulated_kernels,
                                                              __stop_emulated_kernels};

}  // namespace emulation
