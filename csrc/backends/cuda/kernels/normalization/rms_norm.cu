// Root-mean-square normalization of rows.
#include "kernels/normalization/norm_rows.h"

namespace ferrule::cuda {

NORM_KERNELS_OF_ALL_DTYPES(rms_norm, false)

}  // namespace ferrule::cuda
