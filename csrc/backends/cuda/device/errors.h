// Errors of the CUDA runtime as ferrule's errors.
#pragma once

#include <cuda_runtime_api.h>

#include <ferrule/backend.hpp>

#include <string>

namespace ferrule::cuda {

// "cudaErrorIllegalAddress: an illegal memory access was encountered".
std::string text_of(cudaError_t error);

// Whether the error stays until the process ends: the driver refuses all later calls for the device.
bool is_lasting(cudaError_t error);

// The error of a call, such as "cudaMalloc".
sdk::Error error_of(cudaError_t error, const std::string& call);

inline void check(cudaError_t error, const char* call) {
  if (error != cudaSuccess) throw error_of(error, call);
}

}  // namespace ferrule::cuda
