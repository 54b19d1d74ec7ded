// What the queues of devices were given: when it is over, and how it ended.
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

// A module's event, for as long as somebody may ask it.
class QueueEvent {
 public:
  explicit QueueEvent(Device& device) : use_(device.use("work that is not over")) {}
  QueueEvent(const QueueEvent&) = delete;
  QueueEvent& operator=(const QueueEvent&) = delete;
  ~QueueEvent();
  // In the child of a fork, too, where nothing of the parent's work is known: nothing waits for it there.
  bool is_over() const noexcept {
    return use_.device()->belongs_to_parent() || use_.device()->table().event_done(handle) != 0;
  }
  ErrorPointer wait(int64_t timeout_ns) const noexcept {
    if (use_.device()->belongs_to_parent()) return nullptr;
    return ErrorPointer(use_.device()->table().event_wait(handle, timeout_ns));
  }
  // When the queue passed it, if it has, and the module tells.
  std::optional<uint64_t> time_ns() const noexcept;
  fe_module_event* handle = nullptr;  // set before anybody else knows of it

 private:
  const DeviceUse use_;
};

// A piece of work of a queue, behind which an event was recorded. Any thread.
class Work : public std::enable_shared_from_this<Work> {
 public:
  using Inputs = std::vector<std::shared_ptr<Work>>;
  using Kept = std::vector<std::shared_ptr<const void>>;
  // `what` is being computed or copied, for errors. `inputs`: the work whose results it reads, but such as ended well.
  // `kept` lives until it is over. `traced` (may be null) is told when that is. `rest`, if any, is what the host has to
  // do when its device has ended well: who finds that out does it, once, before the work is over for anybody.
  Work(DeviceQueue& queue, std::string what, Inputs inputs, Kept kept, TracedWorkPointer traced = nullptr,
       std::function<void()> rest = {});
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  ~Work() = default;

  DeviceQueue& queue() const { return queue_; }
  const TracedWorkPointer& traced() const { return traced_; }
  // Null once it is known to be over.
  std::shared_ptr<QueueEvent> event() const;
  // The host has to do something behind the event.
  bool has_rest() const { return has_rest_; }
  bool is_over() noexcept;
  // Returns when it is over. Throws Error(cancelled), and the work goes on.
  void wait(const Cancel& cancel = {});
  // Whether it failed, or what it read had failed. False until it is known to be over.
  bool has_failed() const noexcept { return culprit_.load(std::memory_order_acquire) != nullptr; }
  // Throws the error of work that failed.
  void check() const;
  // It cannot be told when it is over: what it uses is never freed.
  bool is_abandoned() const noexcept { return is_abandoned_.load(std::memory_order_acquire); }
  // Whether it is known, without asking the module, that it is over and what it used may be freed.
  bool is_known_to_let_go() const noexcept { return is_over_.load(std::memory_order_acquire) && !is_abandoned(); }

 private:
  friend class DeviceQueue;
  friend class Submission;
  // It is over: how it ended is remembered, and nothing is kept alive for it any more. `error` comes before that of the
  // event.
  void conclude(const QueueEvent& event, ErrorPointer error = nullptr) noexcept;
  // It cannot be told when it is over, for that reason: what it uses is never freed.
  void abandon(const ErrorPointer& reason) noexcept;
  void end(ErrorPointer error, std::shared_ptr<const Work> failed_input, bool is_abandoned) noexcept;

  DeviceQueue& queue_;  // there until the work is over
  const std::shared_ptr<Device> device_;
  const std::string what_;
  const TracedWorkPointer traced_;
  const bool has_rest_;
  std::once_flag rest_is_done_;
  std::atomic<bool> is_over_{false};  // set last
  std::atomic<bool> is_abandoned_{false};
  std::atomic<const Work*> culprit_{nullptr};  // whose error is this work's: itself, or failed_input_
  ErrorPointer error_;
  std::shared_ptr<const Work> failed_input_;

  mutable BriefMutex mutex_;  // of what follows, which ends with the work, and of the end
  std::shared_ptr<QueueEvent> event_;
  std::shared_ptr<const Inputs> inputs_;
  std::shared_ptr<const std::function<void()>> rest_;  // throws nothing, and owns what it touches
  Kept kept_;
};
using WorkPointer = std::shared_ptr<Work>;
// The work after which memory is free.
using Fences = std::vector<WorkPointer>;

}  // namespace ferrule
