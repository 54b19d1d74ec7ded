// A tensor that the kernel copies tile by tile with TMA.
#pragma once

#include "parameters/common.h"

namespace ferrule::cuda {

// The host encodes it for each new address. An address that is no multiple of 16 has no tensor map: the words are of an
// older one then, or zero, and the kernel must copy without it.
struct TensorMap {
  alignas(128) uint64_t words[16];  // a CUtensorMap; CUDA 12 asks for 64 bytes, CUDA 13 for 128
  Address address;
};

}  // namespace ferrule::cuda
