// The compiled kernels, which toolchain/FatBinaries.cmake embeds in the module.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace ferrule::cuda {

struct FatBinary {
  std::string_view name;  // of the kernels' file: "fill" for fill.cu
  const void* code;       // for cudaLibraryLoadData
  size_t size;
};

std::span<const FatBinary> fat_binaries();

}  // namespace ferrule::cuda
