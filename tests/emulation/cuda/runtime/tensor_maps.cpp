// The driver's API: tensor maps, the current context, and how a program that is not linked with the driver finds them.
#include "cuda.h"

#include <cstring>
#include <string_view>

#include "emulation/tile_copies.h"
#include "cuda/runtime/process_state.h"
#include "cuda/runtime/state.h"

using namespace emulation;

namespace {

unsigned bytes_of(CUtensorMapDataType type) {
  switch (type) {
    case CU_TENSOR_MAP_DATA_TYPE_UINT8:
      return 1;
    case CU_TENSOR_MAP_DATA_TYPE_UINT16:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
    case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
      return 2;
    case CU_TENSOR_MAP_DATA_TYPE_UINT32:
    case CU_TENSOR_MAP_DATA_TYPE_INT32:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32:
      return 4;
    default:
      return 8;
  }
}

}  // namespace

CUresult cuCtxGetCurrent(CUcontext* context) {
  if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const int device = thread_state().device;
  *context = device < 0 ? nullptr : reinterpret_cast<CUcontext>(&process_state().contexts[device]);
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context) {
  const auto device = context == nullptr ? -1 : reinterpret_cast<char*>(context) - process_state().contexts;
  if (device >= static_cast<std::ptrdiff_t>(devices().size())) return CUDA_ERROR_INVALID_CONTEXT;
  ThreadState state = thread_state();
  state.device = static_cast<int>(device);
  set_thread_state(state);
  return CUDA_SUCCESS;
}

CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
                                const cuuint64_t* sizes, const cuuint64_t* strides, const cuuint32_t* box,
                                const cuuint32_t* element_strides, CUtensorMapInterleave interleave,
                                CUtensorMapSwizzle swizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill fill) {
  if (begin_call("cuTensorMapEncodeTiled") != cudaSuccess) return CUDA_ERROR_INVALID_VALUE;
  TensorMap made;
  const std::uint64_t largest_size = std::uint64_t{1} << 32, largest_stride = std::uint64_t{1} << 40;
  if (map == nullptr || reinterpret_cast<std::uintptr_t>(map) % 64 != 0 || rank == 0 || rank > TensorMap::most_axes ||
      address == nullptr || reinterpret_cast<std::uintptr_t>(address) % 16 != 0 ||
      interleave != CU_TENSOR_MAP_INTERLEAVE_NONE || fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
    return CUDA_ERROR_INVALID_VALUE;
  made.item_bytes = static_cast<std::uint8_t>(bytes_of(type));
  for (cuuint32_t axis = 0; axis < rank; ++axis) {
    if (sizes[axis] == 0 || sizes[axis] > largest_size || box[axis] == 0 || box[axis] > 256 ||
        element_strides[axis] != 1)
      return CUDA_ERROR_INVALID_VALUE;
    if (axis > 0 && (strides[axis - 1] % 16 != 0 || strides[axis - 1] >= largest_stride))
      return CUDA_ERROR_INVALID_VALUE;
    made.sizes[axis] = sizes[axis];
    made.box[axis] = static_cast<std::uint16_t>(box[axis]);
    if (axis > 0) made.strides[axis - 1] = strides[axis - 1];
  }
  made.swizzle = swizzle == CU_TENSOR_MAP_SWIZZLE_NONE ? 0 : static_cast<std::uint16_t>(16U << swizzle);
  const unsigned row = box[0] * made.item_bytes;
  if (row % 16 != 0 || (made.swizzle != 0 && row > made.swizzle)) return CUDA_ERROR_INVALID_VALUE;
  made.magic = TensorMap::right_magic;
  made.address = reinterpret_cast<std::uintptr_t>(address);
  made.axes = static_cast<std::uint8_t>(rank);
  std::memset(map->opaque, 0, sizeof map->opaque);
  std::memcpy(map->opaque, &made, sizeof made);
  return CUDA_SUCCESS;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned version, unsigned long long,
                                             cudaDriverEntryPointQueryResult* status) {
  if (const cudaError_t error = begin_call("cudaGetDriverEntryPointByVersion"); error != cudaSuccess)
    return noted(error);
  if (symbol == nullptr || function == nullptr) return noted(cudaErrorInvalidValue);
  const struct {
    std::string_view name;
    unsigned version;  // of CUDA that has it first
    void* function;
  } rows[] = {{"cuTensorMapEncodeTiled", 12000, reinterpret_cast<void*>(&cuTensorMapEncodeTiled)},
              {"cuCtxGetCurrent", 4000, reinterpret_cast<void*>(&cuCtxGetCurrent)},
              {"cuCtxSetCurrent", 4000, reinterpret_cast<void*>(&cuCtxSetCurrent)}};
  *function = nullptr;
  for (const auto& row : rows)
    if (row.name == symbol && version >= row.version) *function = row.function;
  if (status != nullptr)
    *status = *function != nullptr ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}
