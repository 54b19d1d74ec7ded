// Work that was submitted to the queues of devices: whether it is over, and how it ended.
#pragma once

#include "core/cancel.h"
#include "core/error.h"
#include "core/registry/device.h"
#include "core/sync/mutexes.h"
#include "core/trace/traced_work.h"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace ferrule {

class DeviceQueue;

// An event of a module, which is released with this object.
class QueueEvent {
 public:
  explicit QueueEvent(Device& device) : use_(device.use("work that is not over")) {}
  QueueEvent(const QueueEvent&) = delete;
  QueueEvent& operator=(const QueueEvent&) = delete;
  ~QueueEvent();
  // True also in the child of a fork: the state of the parent's work is unknown there, and nothing must wait for it.
  bool is_over() const noexcept {
    return use_.device()->belongs_to_parent() || use_.device()->table().event_done(handle) != 0;
  }
  ErrorPointer wait(int64_t timeout_ns) const noexcept {
    if (use_.device()->belongs_to_parent()) return nullptr;
    return ErrorPointer(use_.device()->table().event_wait(handle, timeout_ns));
  }
  // Time at which the queue passed it; empty if it has not, or if the module does not report times.
  std::optional<uint64_t> time_ns() const noexcept;
  fe_module_event* handle = nullptr;  // set before other threads see it

 private:
  const DeviceUse use_;
};

// Work of a queue, and the event recorded after it. Thread-safe.
class Work : public std::enable_shared_from_this<Work> {
 public:
  using Inputs = std::vector<std::shared_ptr<Work>>;
  using Kept = std::vector<std::shared_ptr<const void>>;
  // `what`: description for errors. `inputs`: the work whose results it reads, except work known to have succeeded.
  // `kept` lives until the work is over. `traced` (may be null) is notified then. `rest` (optional): what the host does
  // after the device has succeeded; the first thread that notices runs it, once, before the work counts as over.
  Work(DeviceQueue& queue, std::string what, Inputs inputs, Kept kept, TracedWorkPointer traced = nullptr,
       std::function<void()> rest = {});
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  ~Work() = default;

  DeviceQueue& queue() const { return queue_; }
  const TracedWorkPointer& traced() const { return traced_; }
  // Null once the work is known to be over.
  std::shared_ptr<QueueEvent> event() const;
  // Whether the host has to do something after the event.
  bool has_rest() const { return has_rest_; }
  bool is_over() noexcept;
  // Waits until it is over. Throws Error(cancelled); the work then continues.
  void wait(const Cancel& cancel = {});
  // Whether it failed or read a failed result. False until it is known to be over.
  bool has_failed() const noexcept { return culprit_.load(std::memory_order_acquire) != nullptr; }
  // Throws if the work failed.
  void check() const;
  // Its end cannot be determined: what it uses is never freed.
  bool is_abandoned() const noexcept { return is_abandoned_.load(std::memory_order_acquire); }
  // Whether it is known, without a call of the module, to be over, so that what it used may be freed.
  bool may_free_memory() const noexcept { return is_over_.load(std::memory_order_acquire) && !is_abandoned(); }

 private:
  friend class DeviceQueue;
  friend class Submission;
  // Ends the work: stores its result and releases what it kept. `error` takes precedence over that of the event.
  void conclude(const QueueEvent& event, ErrorPointer error = nullptr) noexcept;
  // Ends work whose end cannot be determined because of `reason`: what it uses is never freed.
  void abandon(const ErrorPointer& reason) noexcept;
  void end(ErrorPointer error, std::shared_ptr<const Work> failed_input, bool is_abandoned) noexcept;

  DeviceQueue& queue_;  // alive until the work is over
  const std::shared_ptr<Device> device_;
  const std::string what_;
  const TracedWorkPointer traced_;
  const bool has_rest_;
  std::once_flag rest_is_done_;
  std::atomic<bool> is_over_{false};  // set last
  std::atomic<bool> is_abandoned_{false};
  std::atomic<const Work*> culprit_{nullptr};  // the work that caused the error: this or failed_input_
  ErrorPointer error_;
  std::shared_ptr<const Work> failed_input_;

  mutable BriefMutex mutex_;  // guards the end, and the members below, which it releases
  std::shared_ptr<QueueEvent> event_;
  std::shared_ptr<const Inputs> inputs_;
  std::shared_ptr<const std::function<void()>> rest_;  // does not throw; owns what it uses
  Kept kept_;
};
using WorkPointer = std::shared_ptr<Work>;
// The work after which memory is free.
using Fences = std::vector<WorkPointer>;

}  // namespace ferrule
