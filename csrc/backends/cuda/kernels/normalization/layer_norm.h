// Parameters of layer_norm.cu and rms_norm.cu.
#pragma once

#include "kernels/normalization/rows.h"

namespace ferrule::cuda {

struct LayerNormParameters {
  RowParameters row;
  Address weight, bias;
  int64_t weight_stride, bias_stride;
  uint32_t has_weight, has_bias;
  float epsilon;
};

}  // namespace ferrule::cuda
