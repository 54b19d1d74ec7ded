#include "device/open_device.h"

#include "device/tensor_maps.h"

namespace ferrule::cuda {

OpenDevice::OpenDevice(const PhysicalDevice& physical, const sdk::Options& options)
    : physical_(physical), settings_(options) {
  if (settings_.memory_limit < 0)
    throw sdk::Error(FE_INVALID_ARGUMENT, "option memory_limit is " + std::to_string(settings_.memory_limit) +
                                              ", and must be a number of bytes, or 0");
  if (settings_.generate_from < 0)
    throw sdk::Error(FE_INVALID_ARGUMENT, "option generate_from is " + std::to_string(settings_.generate_from) +
                                              ", and must be a number of elements, or 0");
  const std::string& cublaslt = settings_.cublaslt;
  if (cublaslt != "0" && cublaslt != "1" && cublaslt.find_first_of("/\\") == std::string::npos)
    throw sdk::Error(FE_INVALID_ARGUMENT,
                     "option cublaslt is '" + cublaslt + "', and must be 0, 1 or the path of the library");
  // Initialises the device's primary context, which other libraries share.
  const DeviceScope scope(physical_.number);
  const cudaError_t error = scope.error();
  if (error == cudaErrorDevicesUnavailable)
    throw sdk::Error(FE_UNSUPPORTED, "another process uses it in exclusive mode, or its compute mode is prohibited (" +
                                         text_of(error) + ")");
  if (error != cudaSuccess) throw error_of(error, "cudaSetDevice");
#ifdef FERRULE_CUDA_HAS_90A
  physical_.capabilities.has_wgmma = physical_.capabilities.compute == 90 && has_tensor_maps();
#endif
  physical_.capabilities.uses_tf32 = settings_.tf32 && physical_.capabilities.compute >= 80;
  check(cudaStreamCreateWithFlags(&allocations_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
}

OpenDevice::~OpenDevice() {
  const DeviceScope scope(physical_.number);
  if (cudaStreamDestroy(allocations_) != cudaSuccess) cudaGetLastError();
}

LoadedKernel OpenDevice::kernel(const std::string& name, uint32_t shared_memory) {
  return checked([&] { return kernels_.get(name, shared_memory); });
}

std::shared_ptr<Fault> OpenDevice::take_fault_copy() {
  return checked([&] { return fault_copies_->take(); });
}

std::shared_ptr<const TimedEvent> OpenDevice::now() {
  const Use use(*this);
  return checked([&] { return clock_.now(physical_.number, allocations_); });
}

void* OpenDevice::allocate(uint64_t size) {
  const int64_t number = ++allocation_count_;
  if (number == settings_.out_of_memory_at)
    throw sdk::Error(FE_OUT_OF_MEMORY, name() + " has no " + std::to_string(size) + " bytes left at allocation " +
                                           std::to_string(number) + ", as requested");
  const auto limit = static_cast<uint64_t>(settings_.memory_limit);
  const auto fits = [&](uint64_t before) { return limit == 0 || (size <= limit && before <= limit - size); };
  uint64_t before = allocated_;
  // A request that does not fit is never added, as others would be refused for it.
  while (fits(before) && !allocated_.compare_exchange_weak(before, before + size)) {
  }
  if (!fits(before))
    throw sdk::Error(FE_OUT_OF_MEMORY, name() + " has no " + std::to_string(size) + " bytes left of the " +
                                           std::to_string(limit) + " that its option memory_limit allows");
  const DeviceScope scope(physical_.number);
  void* pointer = nullptr;
  cudaError_t error = scope.error();
  if (error == cudaSuccess) error = cudaMallocAsync(&pointer, size, allocations_);
  if (error == cudaSuccess) {
    error = cudaStreamSynchronize(allocations_);
    if (error == cudaSuccess) return pointer;
    if (cudaFreeAsync(pointer, allocations_) != cudaSuccess) cudaGetLastError();
  }
  allocated_ -= size;
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw sdk::Error(FE_OUT_OF_MEMORY, name() + " has no " + std::to_string(size) +
                                           " bytes left: cudaMallocAsync failed with " + text_of(error));
  }
  check(error, "cudaMallocAsync");
  return nullptr;  // not reached
}

void OpenDevice::free(void* pointer, uint64_t size) noexcept {
  allocated_ -= size;
  const DeviceScope scope(physical_.number);
  // The driver frees no memory of a lost device.
  if (scope.error() == cudaSuccess && cudaFreeAsync(pointer, allocations_) != cudaSuccess) cudaGetLastError();
}

std::pair<uint64_t, uint64_t> OpenDevice::free_and_total() {
  const Use use(*this);
  // The driver counts what was freed on the stream as used until then.
  check(cudaStreamSynchronize(allocations_), "cudaStreamSynchronize");
  size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  const auto limit = static_cast<uint64_t>(settings_.memory_limit);
  if (limit == 0 || limit >= total) return {free, total};
  const uint64_t used = allocated_;
  return {std::min<uint64_t>(free, used < limit ? limit - used : 0), limit};
}

std::shared_ptr<const sdk::Error> OpenDevice::loss() const {
  const std::lock_guard lock(mutex_);
  return loss_;
}

void OpenDevice::lose(const sdk::Error& error) {
  const std::lock_guard lock(mutex_);
  if (!loss_) loss_ = std::make_shared<const sdk::Error>(error);
}

bool OpenDevice::is_broken() const {
  if (allocations_ == nullptr) return true;  // it is being opened: no other device has a part in that
  const cudaError_t error = cudaStreamQuery(allocations_);
  if (error != cudaSuccess && error != cudaErrorNotReady) cudaGetLastError();
  return is_lasting(error);
}

void OpenDevice::fail(const sdk::Error& error) {
  if (const auto loss = this->loss()) throw *loss;
  if (error.code() != FE_DEVICE_LOST) throw sdk::Error(error.code(), name() + ": " + error.what());
  throw sdk::Error(FE_UNSUPPORTED, name() + ": " + error.what() + ". This device still works");
}

bool OpenDevice::note(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return false;
  cudaGetLastError();  // which would report it to a later caller
  // A call that concerns another device, by its memory or an event, returns that device's error, too.
  if (is_lasting(error) && is_broken())
    lose({FE_DEVICE_LOST, name() + " was lost: " + call + " returned " + text_of(error)});
  return true;
}

void OpenDevice::check(cudaError_t error, const char* call) {
  if (note(error, call)) fail(error_of(error, call));
}

void OpenDevice::count_execution() {
  const int64_t number = ++execution_count_;
  if (number != settings_.device_lost_at) return;
  // Waits first, because the memory of a lost device is used again without a wait for its work.
  const DeviceScope scope(physical_.number);
  note(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  lose({FE_DEVICE_LOST, name() + " was lost at execution " + std::to_string(number) + ", as requested"});
}

}  // namespace ferrule::cuda
