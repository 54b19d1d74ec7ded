#include "device/tensor_maps.h"

#include <cuda.h>

#include <cstring>
#include <string>

#include "device/errors.h"

namespace ferrule::cuda {
namespace {

using Encode = decltype(&cuTensorMapEncodeTiled);

constexpr unsigned encode_version = 12000;  // of the driver's API
constexpr uint64_t any_address = 1 << 20;
constexpr uint64_t stride_limit = uint64_t{1} << 40, size_limit = uint64_t{1} << 32;

// Null if the driver lacks it.
Encode find_encode() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, encode_version, cudaEnableDefault,
                                       &found) != cudaSuccess) {
    cudaGetLastError();
    return nullptr;
  }
  return found == cudaDriverEntryPointSuccess ? reinterpret_cast<Encode>(function) : nullptr;
}

Encode encode() {
  static const Encode function = find_encode();
  return function;
}

CUresult encode_shape(CUtensorMap& map, const TensorMapShape& shape, uint64_t address) {
  const uint32_t steps[] = {1, 1, 1, 1};
  return encode()(&map, CU_TENSOR_MAP_DATA_TYPE_UINT16, shape.axes, reinterpret_cast<void*>(address),
                  shape.sizes.data(), shape.strides.data(), shape.box.data(), steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                  CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

}  // namespace

bool has_tensor_maps() { return encode() != nullptr; }

bool can_be_mapped(const TensorMapShape& shape) {
  for (uint32_t axis = 1; axis < shape.axes; ++axis)
    if (const uint64_t stride = shape.strides[axis - 1]; stride % 16 != 0 || stride >= stride_limit) return false;
  if (shape.strides[0] < shape.sizes[0] * 2) return false;  // rows that overlap
  for (uint32_t axis = 0; axis < shape.axes; ++axis)
    if (const uint64_t size = shape.sizes[axis]; size == 0 || size > size_limit) return false;
  // The driver decides, before the plan and not when it runs. Nothing is read at the address.
  CUtensorMap map{};
  return has_tensor_maps() && encode_shape(map, shape, any_address) == CUDA_SUCCESS;
}

TensorMap tensor_map_of(const TensorMapShape& shape, uint64_t address) {
  CUtensorMap encoded{};
  const CUresult result = encode_shape(encoded, shape, address);
  if (result != CUDA_SUCCESS)
    throw sdk::Error(FE_INTERNAL, "cuTensorMapEncodeTiled returned " + std::to_string(static_cast<int>(result)));
  TensorMap map{};
  static_assert(sizeof encoded == sizeof map.words && alignof(TensorMap) >= alignof(CUtensorMap));
  std::memcpy(map.words, encoded.opaque, sizeof map.words);
  map.address = address;
  return map;
}

}  // namespace ferrule::cuda
