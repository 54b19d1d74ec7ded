// Layer normalization of rows.
#include "kernels/normalization/norm_rows.h"

namespace ferrule::cuda {

NORM_KERNELS_OF_ALL_DTYPES(layer_norm, true)

}  // namespace ferrule::cuda
