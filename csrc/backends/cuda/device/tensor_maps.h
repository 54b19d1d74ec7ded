// Tensor maps, which kernels with TMA read (compute capability 9.0).
#pragma once

#include <array>
#include <cstdint>

#include "parameters/tensor_map.h"

namespace ferrule::cuda {

// A tensor map without its address. Three or four axes, the innermost first; items of 2 bytes; in shared memory the
// chunks of 16 bytes of 128 are permuted (CU_TENSOR_MAP_SWIZZLE_128B).
struct TensorMapShape {
  uint32_t axes = 3;
  std::array<uint64_t, 4> sizes;
  std::array<uint64_t, 3> strides;  // in bytes, of all but the innermost axis
  std::array<uint32_t, 4> box;      // that one copy takes
};

// Whether the driver can encode maps. The program is not linked with the driver: the runtime finds the function.
bool has_tensor_maps();

// Whether an operand of this shape can have a map, at an address that is a multiple of 16.
bool can_be_mapped(const TensorMapShape& shape);

// Encodes the map for an address that is a multiple of 16. Throws FE_INTERNAL if the driver refuses it.
TensorMap tensor_map_of(const TensorMapShape& shape, uint64_t address);

}  // namespace ferrule::cuda
