// The queues of a device, and how work is given to them. Devices without queues compute on the calling thread.
#pragma once

#include "core/memory/work.h"

#include <array>
#include <list>
#include <mutex>

namespace ferrule {

class Storage;

// One queue of a module's. Any thread.
class DeviceQueue {
 public:
  DeviceQueue(Device& device, fe_queue_kind kind);
  ~DeviceQueue();
  DeviceQueue(const DeviceQueue&) = delete;
  DeviceQueue& operator=(const DeviceQueue&) = delete;

  Device& device() const { return device_; }
  fe_queue_kind kind() const { return kind_; }
  fe_module_queue* handle() const { return handle_; }
  // Returns when all that was given so far is over. How that ended is told to who reads its results.
  void synchronize(const Cancel& cancel = {});
  // Waits for the work, and lets the module bring a lost device back.
  void reset();

  // Lets go of the work that is over.
  void reap() noexcept;
  // Returns when the oldest work is over; false when there is none.
  bool wait_for_oldest(const Cancel& cancel = {});

 private:
  friend class Submission;
  friend class Work;
  // The oldest or newest work that is not known to be over; null for none. How many there are.
  WorkPointer oldest() const;
  WorkPointer newest() const;
  std::size_t in_flight() const;
  // No event tells when that work, or what was just given, is over, for the reason that is given: a reset waits for all
  // of it. If that fails as well, the device counts as lost, which is the reason then, and nothing that the work uses
  // is ever freed.
  void drain_for(Work& work, ErrorPointer reason);
  bool drain(ErrorPointer& reason) noexcept;  // with giving_ locked; whether all is over

  Device& device_;
  const fe_queue_kind kind_;
  fe_module_queue* handle_ = nullptr;
  std::mutex giving_;         // the module's queue is for one thread at a time
  mutable BriefMutex mutex_;  // of what follows
  std::list<WorkPointer> work_;
};

// Those of a device: one that computes, and others where its module has engines for them.
class DeviceQueues {
 public:
  explicit DeviceQueues(Device& device);
  // The computing one where the device has no such other.
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

// What work is, for errors, and the bytes that it copies, for traces.
struct WorkName {
  std::string what;
  uint64_t copied_bytes = 0;
};

// Work that is put together for a queue, and given to it.
class Submission {
 public:
  // Opens the device, and throws as Device::open does.
  Submission(Device& device, fe_queue_kind kind, WorkName name);
  // Storages of this device, or of the host's. One that was already failed to be written throws that error.
  void reads(const std::shared_ptr<Storage>& storage);
  void writes(const std::shared_ptr<Storage>& storage);
  // Work that wrote other bytes of the same storage: its error is this work's, too. Null is ignored.
  void completes(const WorkPointer& work) {
    if (work) inputs_.push_back(work);
  }
  // See Work. It throws nothing.
  void then(std::function<void()> rest) { rest_ = std::move(rest); }
  // Of work that is no copy.
  void trace(TracedWorkPointer traced) { traced_ = std::move(traced); }
  // Until the work is over.
  void keep(std::shared_ptr<const void> owned) {
    if (owned) kept_.push_back(std::move(owned));
  }
  // Calls `function` with the module's queue, which waits for what other queues do with the storages; they know of the
  // work then. Throws the function's error, that of an event that cannot be recorded, and Error(cancelled): nothing is
  // under way then. Null where the device has no queues, and all is done.
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
  // The same; false where the module says that it cannot.
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
  const fe_queue_kind kind_;  // that was asked for
  WorkName name_;
  TracedWorkPointer traced_;
  std::vector<std::shared_ptr<Storage>> read_, written_;
  std::vector<WorkPointer> awaited_;
  Work::Inputs inputs_;
  Work::Kept kept_;
  std::function<void()> rest_;
  std::list<WorkPointer> work_;  // one
};

// Null for a device without queues.
inline DeviceQueue* queue_of(Device& device, fe_queue_kind kind) {
  return device.table().queue_create ? &device.attached<DeviceQueues>().of(kind) : nullptr;
}

// Returns when all that was given to the device's queues so far is over.
void synchronize(Device& device, const Cancel& cancel = {});
// The same, and lets its module bring the device back if it was lost.
void reset_queue(Device& device);

// What a device may still work with is never freed. Needs no memory.
void keep_for_good(std::shared_ptr<const void> owned) noexcept;

}  // namespace ferrule
