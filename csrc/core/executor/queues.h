// The queue of a device: one, used by one thread at a time. Devices without queues compute on the calling thread.
#pragma once

#include "core/registry/device.h"

#include <mutex>

namespace ferrule {

class DeviceQueue {
 public:
  explicit DeviceQueue(Device& device);
  ~DeviceQueue();
  DeviceQueue(const DeviceQueue&) = delete;
  DeviceQueue& operator=(const DeviceQueue&) = delete;
  // Returns when all that was given to it is done, also when giving the last failed: what the work reads and writes may
  // be freed after. Throws that error (null for none), else the queue's, if any, which the queue then forgets unless
  // the device is lost.
  void finish(fe_error* error);
  void reset();
  fe_module_queue* handle() const { return queue_; }

 private:
  friend class QueueUse;
  fe_error* drain() noexcept;
  Device& device_;
  fe_module_queue* queue_ = nullptr;
  std::mutex mutex_;
};

// Takes the device's queue for this thread, for as long as it exists. Throws as Device::open does.
class QueueUse {
 public:
  explicit QueueUse(Device& device) : queue_((device.open(), device.attached<DeviceQueue>())) {
    if (queue_.handle()) lock_ = std::unique_lock(queue_.mutex_);
  }
  fe_module_queue* handle() const { return queue_.handle(); }
  void finish(fe_error* error) { queue_.finish(error); }

 private:
  DeviceQueue& queue_;
  std::unique_lock<std::mutex> lock_;
};

}  // namespace ferrule
