// Devices and what is known about them.
#include <algorithm>
#include <cstring>

#include "cuda/runtime/process_state.h"
#include "cuda/runtime/state.h"

namespace emulation {
namespace {

// Limits of compute capability 9.0.
constexpr int most_threads_of_multiprocessor = 2048, registers = 65536, most_blocks_of_multiprocessor = 32;
constexpr int reserved_shared = 1024;
constexpr unsigned pci_domain = 0xffff;  // no real device has it
constexpr std::size_t shared_of_multiprocessor = std::size_t{228} << 10;

}  // namespace

std::vector<std::unique_ptr<Device>>& devices() {
  // They are never destroyed: streams of other static objects may still use them.
  static auto& all = *[] {
    auto* made = new std::vector<std::unique_ptr<Device>>();
    for (std::size_t number = 0; number < settings().visible.size(); ++number) {
      auto device = std::make_unique<Device>();
      device->number = static_cast<int>(number);
      device->total = settings().memory;
      made->push_back(std::move(device));
    }
    return made;
  }();
  return all;
}

Device* device_of(int number) {
  const bool exists = number >= 0 && static_cast<std::size_t>(number) < devices().size();
  return exists ? devices()[static_cast<std::size_t>(number)].get() : nullptr;
}

// The device of the thread; device 0 if the thread has no context, whatever it used before. Code that relies on device
// 0 would give it a context.
Device& current_device() { return *devices()[static_cast<std::size_t>(std::max(0, thread_state().device))]; }

}  // namespace emulation

using namespace emulation;

namespace {

// cudaSuccess if the runtime is available and has this device.
cudaError_t check_device(int device) {
  if (const cudaError_t error = availability(); error != cudaSuccess) return error;
  return device_of(device) == nullptr ? cudaErrorInvalidDevice : cudaSuccess;
}

}  // namespace

cudaError_t cudaDriverGetVersion(int* version) {
  if (const cudaError_t error = begin_call("cudaDriverGetVersion"); error != cudaSuccess) return noted(error);
  if (version == nullptr) return noted(cudaErrorInvalidValue);
  *version = settings().driver;
  return cudaSuccess;
}

// Leaves the count unchanged if it fails, like libcudart 13.0.
cudaError_t cudaGetDeviceCount(int* count) {
  if (const cudaError_t error = begin_call("cudaGetDeviceCount"); error != cudaSuccess) return noted(error);
  if (const cudaError_t error = availability(); error != cudaSuccess) return noted(error);
  if (count == nullptr) return noted(cudaErrorInvalidValue);
  *count = static_cast<int>(devices().size());
  return cudaSuccess;
}

// Opens the device, since CUDA 12.
cudaError_t cudaSetDevice(int device) {
  if (const cudaError_t error = begin_call("cudaSetDevice"); error != cudaSuccess) return noted(error);
  if (const cudaError_t error = check_device(device); error != cudaSuccess) return noted(error);
  if (is_refused()) return noted(cudaErrorDevicesUnavailable);
  ThreadState state = thread_state();
  state.device = device;
  set_thread_state(state);
  create_context(*device_of(device));
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  if (const cudaError_t error = begin_call("cudaGetDevice"); error != cudaSuccess) return noted(error);
  if (const cudaError_t error = availability(); error != cudaSuccess) return noted(error);
  if (device == nullptr) return noted(cudaErrorInvalidValue);
  *device = current_device().number;
  return cudaSuccess;
}

namespace {

cudaDeviceProp properties_of(int device) {
  const VisibleDevice visible = settings().visible[static_cast<std::size_t>(device)];
  cudaDeviceProp made{};
  std::strcpy(made.name, visible.instance == 0 ? "emulated" : "emulated MIG 1g.4gb");
  std::ranges::copy(uuid_of(visible.gpu, visible.instance), made.uuid.bytes);
  made.totalGlobalMem = settings().memory;
  made.sharedMemPerBlock = shared_without_opt_in;
  made.regsPerBlock = registers;
  made.warpSize = warp_size;
  made.maxThreadsPerBlock = 1024;
  made.maxThreadsDim[0] = made.maxThreadsDim[1] = 1024;
  made.maxThreadsDim[2] = 64;
  made.maxGridSize[0] = 0x7fffffff;
  made.maxGridSize[1] = made.maxGridSize[2] = 65535;
  made.totalConstMem = std::size_t{64} << 10;
  made.major = settings().major;
  made.minor = settings().minor;
  made.multiProcessorCount = settings().multiprocessors > 0
                                 ? settings().multiprocessors
                                 : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  made.canMapHostMemory = made.concurrentKernels = made.asyncEngineCount = made.unifiedAddressing = 1;
  made.pciDomainID = pci_domain;
  made.pciDeviceID = static_cast<int>(visible.gpu);
  made.memoryBusWidth = 64;
  made.l2CacheSize = 1 << 20;
  made.maxThreadsPerMultiProcessor = most_threads_of_multiprocessor;
  made.sharedMemPerMultiprocessor = shared_of_multiprocessor;
  made.regsPerMultiprocessor = registers;
  made.canUseHostPointerForRegisteredMem = 1;
  made.sharedMemPerBlockOptin = most_shared;
  made.maxBlocksPerMultiProcessor = most_blocks_of_multiprocessor;
  made.reservedSharedMemPerBlock = reserved_shared;
  made.integrated = settings().is_integrated ? 1 : 0;
  made.pageableMemoryAccess = settings().is_pageable ? 1 : 0;
  made.hostRegisterSupported = made.hostRegisterReadOnlySupported = 1;
  made.memoryPoolsSupported = settings().has_pools ? 1 : 0;
  return made;
}

}  // namespace

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (const cudaError_t error = begin_call("cudaGetDeviceProperties"); error != cudaSuccess) return noted(error);
  if (const cudaError_t error = check_device(device); error != cudaSuccess) return noted(error);
  if (properties == nullptr) return noted(cudaErrorInvalidValue);
  *properties = properties_of(device);
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (const cudaError_t error = begin_call("cudaDeviceGetAttribute"); error != cudaSuccess) return noted(error);
  if (const cudaError_t error = check_device(device); error != cudaSuccess) return noted(error);
  if (value == nullptr) return noted(cudaErrorInvalidValue);
  const cudaDeviceProp of = properties_of(device);
  const struct {
    cudaDeviceAttr attribute;
    int value;
  } rows[] = {
      {cudaDevAttrMaxThreadsPerBlock, of.maxThreadsPerBlock},
      {cudaDevAttrMaxSharedMemoryPerBlock, static_cast<int>(of.sharedMemPerBlock)},
      {cudaDevAttrWarpSize, of.warpSize},
      {cudaDevAttrMaxRegistersPerBlock, of.regsPerBlock},
      {cudaDevAttrMultiProcessorCount, of.multiProcessorCount},
      {cudaDevAttrKernelExecTimeout, 0},
      {cudaDevAttrIntegrated, of.integrated},
      {cudaDevAttrCanMapHostMemory, of.canMapHostMemory},
      {cudaDevAttrComputeMode, settings().compute_mode},
      {cudaDevAttrConcurrentKernels, of.concurrentKernels},
      {cudaDevAttrEccEnabled, of.ECCEnabled},
      {cudaDevAttrPciBusId, of.pciBusID},
      {cudaDevAttrPciDeviceId, of.pciDeviceID},
      {cudaDevAttrMemoryClockRate, 1000000},  // kHz
      {cudaDevAttrGlobalMemoryBusWidth, of.memoryBusWidth},
      {cudaDevAttrL2CacheSize, of.l2CacheSize},
      {cudaDevAttrMaxThreadsPerMultiProcessor, of.maxThreadsPerMultiProcessor},
      {cudaDevAttrAsyncEngineCount, of.asyncEngineCount},
      {cudaDevAttrUnifiedAddressing, of.unifiedAddressing},
      {cudaDevAttrPciDomainId, of.pciDomainID},
      {cudaDevAttrComputeCapabilityMajor, of.major},
      {cudaDevAttrComputeCapabilityMinor, of.minor},
      {cudaDevAttrMaxSharedMemoryPerMultiprocessor, static_cast<int>(of.sharedMemPerMultiprocessor)},
      {cudaDevAttrMaxRegistersPerMultiprocessor, of.regsPerMultiprocessor},
      {cudaDevAttrManagedMemory, of.managedMemory},
      {cudaDevAttrPageableMemoryAccess, of.pageableMemoryAccess},
      {cudaDevAttrConcurrentManagedAccess, of.concurrentManagedAccess},
      {cudaDevAttrCanUseHostPointerForRegisteredMem, of.canUseHostPointerForRegisteredMem},
      {cudaDevAttrCooperativeLaunch, of.cooperativeLaunch},
      {cudaDevAttrMaxSharedMemoryPerBlockOptin, static_cast<int>(of.sharedMemPerBlockOptin)},
      {cudaDevAttrHostRegisterSupported, of.hostRegisterSupported},
      {cudaDevAttrPageableMemoryAccessUsesHostPageTables, of.pageableMemoryAccessUsesHostPageTables},
      {cudaDevAttrMaxBlocksPerMultiprocessor, of.maxBlocksPerMultiProcessor},
      {cudaDevAttrReservedSharedMemoryPerBlock, static_cast<int>(of.reservedSharedMemPerBlock)},
      {cudaDevAttrHostRegisterReadOnlySupported, of.hostRegisterReadOnlySupported},
      {cudaDevAttrMemoryPoolsSupported, of.memoryPoolsSupported},
  };
  for (const auto& row : rows) {
    if (row.attribute != attribute) continue;
    *value = row.value;
    return cudaSuccess;
  }
  return noted(cudaErrorInvalidValue);
}
