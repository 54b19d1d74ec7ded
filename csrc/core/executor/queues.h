// The queue of a device: one, used by one thread at a time. Devices without queues compute on the calling thread.
#pragma once

#include "core/error.h"
#include "core/registry/device.h"

#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

namespace ferrule {

class DeviceQueue {
 public:
  explicit DeviceQueue(Device& device);
  ~DeviceQueue();
  DeviceQueue(const DeviceQueue&) = delete;
  DeviceQueue& operator=(const DeviceQueue&) = delete;
  void reset();
  fe_module_queue* handle() const { return queue_; }

 private:
  friend class QueueUse;
  // What is known of the work in the queue after waiting for it.
  struct Drained {
    ErrorPointer error;  // the work's or the wait's
    bool is_over = true;
  };
  Drained drain() noexcept;
  Device& device_;
  fe_module_queue* queue_ = nullptr;
  std::mutex mutex_;
};

// What a device may still work with is never freed. Needs no memory.
void keep_for_good(std::shared_ptr<const void> owned) noexcept;

// Takes the device's queue for this thread, for as long as it exists. Throws as Device::open does.
class QueueUse {
 public:
  explicit QueueUse(Device& device) : queue_((device.open(), device.attached<DeviceQueue>())) {
    if (queue_.handle()) lock_ = std::unique_lock(queue_.mutex_);
  }
  fe_module_queue* handle() const { return queue_.handle(); }

  // Returns when all that was given to the queue is over, also when giving the last failed: what the work reads and
  // writes may be freed after. Throws that error (null for none), else the queue's, if any, which the queue then
  // forgets unless the device is lost.
  //
  // Should the module be unable to tell whether the work is over, the device counts as lost, and what `in_use` names
  // is never freed: it is called with a function of a shared_ptr, for everything that the work may touch.
  template <class InUse>
  void finish(fe_error* error, const InUse& in_use) {
    ErrorPointer given(error);
    DeviceQueue::Drained drained = queue_.drain();
    if (!drained.is_over) in_use([](std::shared_ptr<const void> owned) { keep_for_good(std::move(owned)); });
    conclude(std::move(given), std::move(drained));
  }

 private:
  void conclude(ErrorPointer given, DeviceQueue::Drained drained);

  DeviceQueue& queue_;
  std::unique_lock<std::mutex> lock_;
};

}  // namespace ferrule
