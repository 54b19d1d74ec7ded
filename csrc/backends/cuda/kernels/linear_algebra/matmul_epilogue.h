// Parameters of the kernels of matrix products that end with the ops that are fused to them.
#pragma once

#include "kernels/linear_algebra/matmul.h"
#include "parameters/elementwise.h"

namespace ferrule::cuda {

// Operand 0 of a program is the element of the product. The program's shape is that of the result.
struct MatmulEpilogueParameters {
  MatmulParameters product;  // `to` is unused
  elementwise::SmallProgram epilogue;
};
struct MatmulSegmentsEpilogueParameters {
  MatmulSegmentsParameters segments;  // `to` is unused
  elementwise::SmallProgram epilogue;
};

}  // namespace ferrule::cuda
