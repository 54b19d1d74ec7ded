// Parameters of store_scalars.cu.
#pragma once

#include "parameters/common.h"

namespace ferrule::cuda {

// Stores scalars of 16 bytes in memory, for kernels that read them there.
struct StoreScalarsParameters {
  static constexpr uint32_t most = 32;
  Address to;
  uint32_t first, count;
  alignas(16) uint8_t scalars[most][16];
};

}  // namespace ferrule::cuda
