// Parameters of softmax.cu.
#pragma once

#include "kernels/normalization/rows.h"

namespace ferrule::cuda {

struct SoftmaxParameters {
  RowParameters row;
  uint32_t is_logarithm;
};

}  // namespace ferrule::cuda
