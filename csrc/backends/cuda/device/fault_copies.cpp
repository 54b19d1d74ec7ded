#include "device/fault_copies.h"

#include <new>

#include "device/device_scope.h"
#include "device/errors.h"

namespace ferrule::cuda {

FaultCopies::~FaultCopies() {
  if (free_.empty()) return;
  const DeviceScope scope(device_);
  for (Fault* const fault : free_)
    if (cudaFreeHost(fault) != cudaSuccess) cudaGetLastError();
}

std::shared_ptr<Fault> FaultCopies::take() {
  Fault* fault = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      fault = free_.back();
      free_.pop_back();
    }
  }
  if (fault == nullptr) {
    void* memory = nullptr;
    check(cudaHostAlloc(&memory, sizeof(Fault), cudaHostAllocDefault), "cudaHostAlloc");
    fault = static_cast<Fault*>(memory);
    const std::lock_guard lock(mutex_);
    free_.reserve(++count_);  // so that giving one back needs no memory
  }
  *fault = Fault{};
  return {fault, [self = shared_from_this()](Fault* used) {
            const std::lock_guard lock(self->mutex_);
            self->free_.push_back(used);
          }};
}

}  // namespace ferrule::cuda
