#include "device/physical_device.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "device/driver_library.h"
#include "device/errors.h"

namespace ferrule::cuda {
namespace {

constexpr int oldest_capability = 75;
constexpr uint64_t page = 4096;  // bytes that are registered at least

// Why cudaGetDeviceCount fails. FE_NOT_FOUND: this machine has no device.
sdk::Error reason_of(cudaError_t error) {
  cudaGetLastError();
  if (error == cudaErrorNoDevice) {
    const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
    return {FE_NOT_FOUND,
            "the NVIDIA driver lists no device" +
                (visible == nullptr ? "" : std::string(", and CUDA_VISIBLE_DEVICES is '") + visible + "'")};
  }
  int driver = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess) driver = 0;
  if (driver == 0 && (error == cudaErrorInsufficientDriver || error == cudaErrorStubLibrary))
    return reason_for_no_driver();
  if (error == cudaErrorInsufficientDriver) return {FE_UNSUPPORTED, complaint_about_old_driver(driver)};
  return {FE_UNSUPPORTED, "the NVIDIA driver lists no devices: " + text_of(error)};
}

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute");
  return value;
}

PhysicalDevice describe(int number) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, number), "cudaGetDeviceProperties");
  int driver = 0;
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  PhysicalDevice device{.number = number, .description = {}, .capabilities = {}};
  sdk::DeviceDescription& description = device.description;
  description.name = properties.name;
  description.description = "compute capability " + std::to_string(properties.major) + "." +
                            std::to_string(properties.minor) + ", driver for CUDA " + version_text(driver);
  description.total_memory = properties.totalGlobalMem;
  device.reads_pageable = attribute(cudaDevAttrPageableMemoryAccess, number) != 0;
  const bool registers = attribute(cudaDevAttrHostRegisterSupported, number) != 0;
  description.borrow_alignment = device.reads_pageable ? 1 : registers ? page : 0;
  if (properties.integrated != 0) description.flags = FE_DEVICE_FLAG_UNIFIED_MEMORY;
  description.queue_kinds = 1u << FE_QUEUE_UPLOAD | 1u << FE_QUEUE_DOWNLOAD;
#ifdef FERRULE_CUDA_EMULATED
  description.kind = FE_DEVICE_SOFTWARE;
#else
  description.kind = properties.integrated != 0 ? FE_DEVICE_INTEGRATED_GPU : FE_DEVICE_GPU;
#endif
  std::array<uint8_t, 16> uuid{};
  static_assert(sizeof properties.uuid.bytes == sizeof uuid);
  std::memcpy(uuid.data(), properties.uuid.bytes, sizeof uuid);
  description.uuid = uuid;
  char address[32];
  std::snprintf(address, sizeof address, "%04x:%02x:%02x.0", static_cast<unsigned>(properties.pciDomainID),
                static_cast<unsigned>(properties.pciBusID), static_cast<unsigned>(properties.pciDeviceID));
  description.pci_address = address;
  device.capabilities = {.compute = 10 * properties.major + properties.minor,
                         .multiprocessors = static_cast<uint32_t>(std::max(1, properties.multiProcessorCount)),
                         .shared_memory = static_cast<uint32_t>(properties.sharedMemPerBlockOptin)};
  device.registers_read_only = attribute(cudaDevAttrHostRegisterReadOnlySupported, number) != 0;
  return device;
}

// Why a device cannot be used by this module; empty if it can.
std::string refusal_of(const PhysicalDevice& device) {
  if (device.capabilities.compute < oldest_capability)
    return device.description.name + " has " + device.description.description + ", and kernels need 7.5 or later";
  // Machine code for 10.0 does not run there, and the PTX is for later ones (toolchain/FatBinaries.cmake).
  if (device.capabilities.compute / 10 == 11)
    return device.description.name + " has " + device.description.description + ", for which there are no kernels";
  if (attribute(cudaDevAttrComputeMode, device.number) == cudaComputeModeProhibited)
    return device.description.name + " has the compute mode prohibited, which nvidia-smi --compute-mode=DEFAULT ends";
  if (attribute(cudaDevAttrMemoryPoolsSupported, device.number) == 0)
    return device.description.name + " has no memory pools, from which this backend allocates";
  return "";
}

}  // namespace

std::vector<PhysicalDevice> find_devices() {
  int count = 0;
  if (const cudaError_t error = cudaGetDeviceCount(&count); error != cudaSuccess) throw reason_of(error);
  std::vector<PhysicalDevice> devices;
  std::string refusals;
  for (int number = 0; number < count; ++number) {
    std::string refusal;
    try {
      PhysicalDevice device = describe(number);
      refusal = refusal_of(device);
      if (refusal.empty()) devices.push_back(std::move(device));
    } catch (const sdk::Error& error) {  // of this device; others may work
      refusal = "device " + std::to_string(number) + ": " + error.what();
    }
    if (refusal.empty()) continue;
    sdk::host->log(FE_LOG_INFO, ("cuda: a device is left out: " + refusal).c_str());
    refusals += (refusals.empty() ? "" : "; ") + refusal;
  }
  if (devices.empty()) throw sdk::Error(FE_UNSUPPORTED, "no CUDA device of this machine can be used: " + refusals);
  return devices;
}

}  // namespace ferrule::cuda
