// Parameters of fill.cu.
#pragma once

#include "parameters/common.h"

namespace ferrule::cuda {

// Writes `count` times a pattern of 2, 4, 8 or 16 bytes.
struct FillParameters {
  Address to;
  uint64_t count;
  alignas(16) uint8_t pattern[16];
};

}  // namespace ferrule::cuda
