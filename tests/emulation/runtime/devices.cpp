#include <atomic>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <tuple>

#include "runtime/state.h"

namespace emulation {
namespace {

thread_local int current = 0;
thread_local cudaError_t last_error = cudaSuccess;

std::pair<int, int> capability() {
  const char* const text = std::getenv("FERRULE_EMULATION_CAPABILITY");
  int major = 9, minor = 0;
  if (text != nullptr && std::sscanf(text, "%d.%d", &major, &minor) != 2) {
    major = 9;
    minor = 0;
  }
  return {major, minor};
}

}  // namespace

unsigned long long number_from_environment(const char* name, unsigned long long otherwise) {
  const char* const text = std::getenv(name);
  if (text == nullptr) return otherwise;
  char* end = nullptr;
  const unsigned long long value = std::strtoull(text, &end, 10);
  return end == text || *end != '\0' ? otherwise : value;
}

std::vector<std::unique_ptr<Device>>& devices() {
  // Never destroyed: streams of other static objects may still use them.
  static auto& all = *[] {
    auto* made = new std::vector<std::unique_ptr<Device>>();
    const auto count = std::min(number_from_environment("FERRULE_EMULATION_DEVICES", 1), 16ULL);
    for (unsigned long long number = 0; number < count; ++number) {
      made->push_back(std::make_unique<Device>());
      made->back()->number = static_cast<int>(number);
      made->back()->total = number_from_environment("FERRULE_EMULATION_MEMORY", 4ULL << 30);
    }
    return made;
  }();
  return all;
}

Device& current_device() { return *devices()[static_cast<std::size_t>(current)]; }

cudaError_t noted(cudaError_t error) {
  if (error != cudaSuccess && error != cudaErrorNotReady) last_error = error;
  return error;
}

cudaError_t health() {
  if (devices().empty()) return cudaErrorNoDevice;
  Device& device = current_device();
  const std::scoped_lock lock(device.mutex);
  return device.fault.empty() ? cudaSuccess : cudaErrorLaunchFailure;
}

void set_fault(Device& device, const std::string& text) {
  const std::scoped_lock lock(device.mutex);
  if (device.fault.empty()) device.fault = text;
}

std::string fault_of_device() {
  if (devices().empty()) return "";
  Device& device = current_device();
  const std::scoped_lock lock(device.mutex);
  return device.fault;
}

void forget_faults() {
  for (const auto& device : devices()) {
    const std::scoped_lock lock(device->mutex);
    device->fault.clear();
  }
  last_error = cudaSuccess;
}

}  // namespace emulation

using namespace emulation;

namespace {

struct ErrorRow {
  cudaError_t error;
  const char *name, *text;
};
constexpr ErrorRow errors[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver",
     "CUDA driver version is insufficient for CUDA runtime version"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorLaunchOutOfResources, "cudaErrorLaunchOutOfResources", "too many resources requested for launch"},
    {cudaErrorHostMemoryAlreadyRegistered, "cudaErrorHostMemoryAlreadyRegistered",
     "part or all of the requested memory range is already mapped"},
    {cudaErrorHostMemoryNotRegistered, "cudaErrorHostMemoryNotRegistered",
     "pointer does not correspond to a registered memory region"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
};

const ErrorRow* row_of(cudaError_t error) {
  for (const ErrorRow& row : errors)
    if (row.error == error) return &row;
  return nullptr;
}

}  // namespace

const char* cudaGetErrorName(cudaError_t error) {
  const ErrorRow* const row = row_of(error);
  return row == nullptr ? "unrecognized error code" : row->name;
}
const char* cudaGetErrorString(cudaError_t error) {
  const ErrorRow* const row = row_of(error);
  return row == nullptr ? "unrecognized error code" : row->text;
}

cudaError_t cudaGetLastError() { return std::exchange(last_error, cudaSuccess); }

cudaError_t cudaDriverGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) {
  *count = static_cast<int>(devices().size());
  return noted(*count == 0 ? cudaErrorNoDevice : cudaSuccess);
}

cudaError_t cudaSetDevice(int device) {
  if (device < 0 || static_cast<std::size_t>(device) >= devices().size()) return noted(cudaErrorInvalidDevice);
  current = device;
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  *device = current;
  return noted(devices().empty() ? cudaErrorNoDevice : cudaSuccess);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (device < 0 || static_cast<std::size_t>(device) >= devices().size()) return noted(cudaErrorInvalidDevice);
  *properties = {};
  std::strcpy(properties->name, "emulated");
  std::snprintf(properties->uuid.bytes, sizeof properties->uuid.bytes, "emulated-%02d", device % 100);
  properties->totalGlobalMem = devices()[static_cast<std::size_t>(device)]->total;
  properties->sharedMemPerBlock = shared_without_opt_in;
  properties->sharedMemPerBlockOptin = most_shared;
  properties->multiProcessorCount = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  std::tie(properties->major, properties->minor) = capability();
  properties->warpSize = warp_size;
  properties->pciDeviceID = device;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  cudaDeviceProp properties;
  if (const cudaError_t error = cudaGetDeviceProperties(&properties, device); error != cudaSuccess) return error;
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
      *value = 1024;
      break;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      *value = static_cast<int>(properties.sharedMemPerBlock);
      break;
    case cudaDevAttrMultiProcessorCount:
      *value = properties.multiProcessorCount;
      break;
    case cudaDevAttrComputeCapabilityMajor:
      *value = properties.major;
      break;
    case cudaDevAttrComputeCapabilityMinor:
      *value = properties.minor;
      break;
    case cudaDevAttrPageableMemoryAccess:
      *value = 0;
      break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = static_cast<int>(properties.sharedMemPerBlockOptin);
      break;
    case cudaDevAttrMemoryPoolsSupported:
      *value = 1;
      break;
    default:
      return noted(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}
