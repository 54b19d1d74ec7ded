// What environment variables say about the emulated machine (docs/emulator.md). Read once, at the first call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "cuda_runtime_api.h"

namespace emulation {

constexpr std::size_t most_devices = 16;

struct Settings {
  int driver = 13000;  // the newest version of CUDA that the driver supports
  std::size_t devices = 1, memory = std::size_t{4} << 30;
  int major = 9, minor = 0;
  cudaComputeMode compute_mode = cudaComputeModeDefault;
  // The operation on streams that fails, from 1 on, and how.
  std::uint64_t fault_at = 0;
  cudaError_t fault = cudaSuccess;
};
// Ends the process for a value that it does not understand.
const Settings& settings();

// Of the table of errors, by name; cudaSuccess if there is none.
cudaError_t error_of_name(std::string_view name);

}  // namespace emulation
