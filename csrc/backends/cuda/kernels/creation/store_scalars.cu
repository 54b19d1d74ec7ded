// Stores the scalars of an execution in memory.
#include "parameters/store_scalars.h"

#include "kernels/device.h"

namespace ferrule::cuda {

FERRULE_KERNEL(store_scalars_all, StoreScalarsParameters, 32) {
  if (threadIdx.x >= p.count) return;
  uint4 scalar;
  memcpy(&scalar, p.scalars[threadIdx.x], sizeof scalar);
  pointer<uint4>(p.to)[p.first + threadIdx.x] = scalar;
}

}  // namespace ferrule::cuda
