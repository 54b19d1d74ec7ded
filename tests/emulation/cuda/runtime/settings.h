// The settings of the emulated machine, from environment variables (docs/develop/emulators.md), which are read once, at
// the first call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cuda_runtime_api.h"
#include "cuda/runtime/visible_devices.h"

namespace emulation {

constexpr std::size_t most_devices = 16;

struct Settings {
  int driver = 13000;  // the newest version of CUDA that the driver supports
  std::size_t devices = 1, memory = std::size_t{4} << 30;
  std::size_t instances = 0;  // of MIG, of each GPU; 0: MIG is off
  std::vector<VisibleDevice> visible;
  int major = 9, minor = 0;
  bool has_pools = true;       // of memory
  bool is_integrated = false;  // the devices' memory is the host's
  bool is_pageable = false;    // memory of the process, to kernels
  int multiprocessors = 0;     // of each device; 0: as many as the machine has threads
  cudaComputeMode compute_mode = cudaComputeModeDefault;
  bool is_taken = false;  // another process has the devices, in exclusive mode
  // The operation on streams that fails, from 1 on, and how.
  std::uint64_t fault_at = 0;
  cudaError_t fault = cudaSuccess;
  // The call that fails: its function, or "*"; its number among those calls, from 1 on, or 0 for each; and how.
  std::string failing_function;
  std::uint64_t failing_call = 0;
  cudaError_t call_error = cudaSuccess;
  bool call_error_passes = false;  // the device is all right
  // The first calls of a function, that many, begin late.
  std::string late_function;
  std::uint64_t late_calls = 0;
  std::string log;  // a file that all calls are written to; empty for none
};
// Ends the process for a value that it does not understand.
const Settings& settings();

// The error of this name in the table of errors; cudaSuccess if there is none.
cudaError_t error_of_name(std::string_view name);

}  // namespace emulation
