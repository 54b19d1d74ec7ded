// The queues of a device, and how work is submitted to them. Devices without queues compute on the calling thread.
#pragma once

#include "core/memory/work.h"
#include "core/trace/trace.h"

#include <array>
#include <list>
#include <mutex>

namespace ferrule {

class Storage;

// One queue of a module. Thread-safe.
class DeviceQueue {
 public:
  DeviceQueue(Device& device, fe_queue_kind kind);
  ~DeviceQueue();
  DeviceQueue(const DeviceQueue&) = delete;
  DeviceQueue& operator=(const DeviceQueue&) = delete;

  Device& device() const { return device_; }
  fe_queue_kind kind() const { return kind_; }
  fe_module_queue* handle() const { return handle_; }
  // Waits until all work submitted so far is over. A failure is reported to the readers of the results.
  void synchronize(const Cancel& cancel = {});
  // Waits for the work with the reset of the module.
  void reset();

  // Releases the work that is over.
  void reap() noexcept;
  // Waits for the oldest work; false if there is none.
  bool wait_for_oldest(const Cancel& cancel = {});

 private:
  friend class Submission;
  friend class Work;
  // The oldest or newest work that is not known to be over; null if none. in_flight() counts such work.
  WorkPointer oldest() const;
  WorkPointer newest() const;
  std::size_t in_flight() const;
  // Ends work whose end no event can report, because of `reason`: resets the queue, which waits for all of its work. If
  // the reset fails too, the device counts as lost, `reason` becomes that error, and nothing that the work uses is ever
  // freed.
  void drain_for(Work& work, ErrorPointer reason);
  bool drain(ErrorPointer& reason) noexcept;  // requires giving_ locked; true if all work is over

  Device& device_;
  const fe_queue_kind kind_;
  fe_module_queue* handle_ = nullptr;
  std::mutex giving_;         // the module's queue takes one thread at a time
  mutable BriefMutex mutex_;  // guards work_
  std::list<WorkPointer> work_;
};

// The queues of a device: one for compute, and the copy queues that its module offers.
class DeviceQueues {
 public:
  explicit DeviceQueues(Device& device);
  // The compute queue if the device has no queue of this kind.
  DeviceQueue& of(fe_queue_kind kind) { return *queues_[static_cast<std::size_t>(kind)]; }
  void synchronize(const Cancel& cancel = {});
  void finish_work() { synchronize(); }
  void reap() noexcept {
    for (const auto& queue : owned_) queue->reap();
  }
  void reset();

 private:
  std::vector<std::unique_ptr<DeviceQueue>> owned_;
  std::array<DeviceQueue*, 3> queues_{};
};

// Description of work for errors, and the bytes that it copies, for traces.
struct WorkName {
  std::string what;
  uint64_t copied_bytes = 0;
};

// Collects what a piece of work reads, writes and keeps, and submits it to a queue.
class Submission {
 public:
  // Opens the device; throws as Device::open does.
  Submission(Device& device, fe_queue_kind kind, WorkName name);
  // Storages of this device or of the host. give() throws the error of a read storage whose last write failed.
  void reads(const std::shared_ptr<Storage>& storage);
  void writes(const std::shared_ptr<Storage>& storage);
  // Adds work that wrote other bytes of the same storage: this work fails if it failed. Null is ignored.
  void completes(const WorkPointer& work) {
    if (work) inputs_.push_back(work);
  }
  // See `rest` of Work; it must not throw.
  void then(std::function<void()> rest) { rest_ = std::move(rest); }
  // Sets the trace of work that is not a copy.
  void trace(TracedWorkPointer traced) { traced_ = std::move(traced); }
  // Keeps an object until the work is over.
  void keep(std::shared_ptr<const void> owned) {
    if (owned) kept_.push_back(std::move(owned));
  }
  // Calls `function` with the module's queue, which first waits for other queues' uses of the storages, and records the
  // work as a use of them. Throws the function's error, that of an event that cannot be recorded, or Error(cancelled);
  // nothing is under way then. Null if the device has no queues: all is done.
  template <class Function>
  WorkPointer give(const Cancel& cancel, const Function& function) {
    TraceSpan span(queue_.handle() ? FE_TRACE_SUBMIT : FE_TRACE_TRANSFER, queue_.handle() ? "submit" : copy_name());
    span.describe([&](TraceLabel& label) { describe(label, queue_.handle() ? 0 : name_.copied_bytes); });
    prepare(cancel);
    if (!queue_.handle()) {
      queue_.device().check(function(nullptr));
      return nullptr;
    }
    const std::scoped_lock lock(queue_.giving_);
    wait_on_device();
    return commit(function(queue_.handle()));
  }
  // Calls give(). Returns false if the module returns FE_UNSUPPORTED.
  template <class Function>
  bool is_given(const Function& function) {
    try {
      give({}, function);
      return true;
    } catch (const Error& error) {
      if (error.code() != FE_UNSUPPORTED) throw;
      return false;
    }
  }

 private:
  void prepare(const Cancel& cancel);
  void wait_on_device();
  const char* copy_name() const;
  void describe(TraceLabel& label, uint64_t bytes) const;
  WorkPointer commit(fe_error* error);
  void give_up(Work& work, ErrorPointer error, ErrorPointer unrecorded);

  DeviceQueue& queue_;
  const fe_queue_kind kind_;  // as requested
  WorkName name_;
  TracedWorkPointer traced_;
  std::vector<std::shared_ptr<Storage>> read_, written_;
  std::vector<WorkPointer> awaited_;
  Work::Inputs inputs_;
  Work::Kept kept_;
  std::function<void()> rest_;
  std::list<WorkPointer> work_;  // one entry; spliced into the queue's list
};

// Null for a device without queues.
inline DeviceQueue* queue_of(Device& device, fe_queue_kind kind) {
  return device.table().queue_create ? &device.attached<DeviceQueues>().of(kind) : nullptr;
}

// Waits until all work submitted to the device's queues so far is over.
void synchronize(Device& device, const Cancel& cancel = {});
// Waits with the reset of its queues. Throws the loss of a lost device.
void reset_queue(Device& device);

// Leaks an object deliberately, because a device may still use it. Works without free memory.
void leak_deliberately(std::shared_ptr<const void> owned) noexcept;

}  // namespace ferrule
