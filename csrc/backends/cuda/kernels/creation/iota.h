// Parameters of iota.cu.
#pragma once

#include "parameters/common.h"

namespace ferrule::cuda {

struct IotaParameters {
  Address to;
  uint64_t count;
};

}  // namespace ferrule::cuda
