// The work of a queue: command buffers in the order of their commits, and the events between them.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "open_device/open_device.h"

namespace ferrule::metal {

// The work between two events of a queue.
struct EventSpan {
  uint64_t end = 0;        // the number of the last work before the event
  uint64_t host_ns = 0;    // when the host last did work for it
  uint64_t device_ns = 0;  // when the device had done the work up to `end`
  std::optional<sdk::Error> error;
};

// An encoder that was just made, which may be null: messages to null do nothing, and results would be wrong.
inline Id checked_encoder(Id encoder) {
  if (encoder == nullptr) throw sdk::Error(FE_OUT_OF_MEMORY, "metal: a command buffer makes no encoder");
  return encoder;
}

// Work is numbered in the order of its commits, and the device does it in that order. An error of a command buffer is
// the error of the span in which it was committed; later work still runs. A lost device is lost for all of its queues:
// all work counts as done, and the loss is the error of each span.
class Timeline : public std::enable_shared_from_this<Timeline> {
 public:
  explicit Timeline(std::shared_ptr<OpenDevice> device);
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  // ---- for one thread at a time: the one that uses the queue

  using Encode = std::function<void(Id command_buffer)>;
  // Commits a command buffer that `encode` has filled, and returns its number; 0, without effect, while the device is
  // lost. `touched` is what it reads and writes, and stays alive until it is done. `after` is called when it is known
  // to be done without error, with its times in nanoseconds of the host's clock; what it throws is the span's error.
  using After = std::function<void(uint64_t begin_ns, uint64_t end_ns)>;
  uint64_t submit(std::vector<MemoryPointer> touched, const Encode& encode, std::shared_ptr<void> keep_alive,
                  After after);
  // Notes that the host has done work for the queue.
  void note_host_work();
  // Later work begins after that span of another queue, also if its work fails. Throws FE_UNSUPPORTED for a queue of
  // another device.
  void wait_for(Timeline& other, const EventSpan& span);
  // For tests: the next work ends with this error, like a command buffer that fails: its event is not signaled.
  void fail_next(sdk::Error error) { failure_ = std::move(error); }
  // Ends the open span, and begins the next.
  std::shared_ptr<const EventSpan> record();
  // The number of the last work that touches these bytes, also through another buffer, or that waits for other queues;
  // 0 if all of it is done.
  uint64_t last_use(const Memory& memory);
  bool is_lost() const { return device_->loss().has_value(); }
  // Waits for all work. Throws the loss of a lost device.
  void reset();

  // ---- thread-safe

  // Whether that work is done. If so, calls what was to be called after it.
  bool has_passed(uint64_t number);
  // Waits until that work is done; throws FE_TIMEOUT after `timeout_ns` if that is >= 0.
  void pass(uint64_t number, int64_t timeout_ns);
  // The same for a span; throws its error, too.
  void wait(const EventSpan& span, int64_t timeout_ns);
  uint64_t time(const EventSpan& span);

 private:
  struct Awaited {
    std::weak_ptr<Timeline> timeline;
    std::shared_ptr<const Owned> event;
    uint64_t value;
  };
  struct Submission {
    uint64_t number;
    Owned commands;
    std::vector<MemoryPointer> touched;
    std::shared_ptr<void> keep_alive;
    After after;
    std::shared_ptr<EventSpan> span;
    std::vector<Awaited> awaited;
    std::optional<sdk::Error> failure;  // that tests ask for
  };
  static bool has_failed(const Submission& submission);
  void submit_waits();
  // Waits until some of the work up to that number is over.
  void wait_for_next(uint64_t number);
  // Finishes work that is over. Returns whether the device is lost; then each span that is not done has that error.
  bool retire();
  // The caller holds the mutex, and destroys the finished work in `over` without it.
  bool retire(std::list<Submission>& over);
  void finish(const Submission& submission);

  const std::shared_ptr<OpenDevice> device_;
  Owned queue_;                         // an MTLCommandQueue
  std::shared_ptr<const Owned> event_;  // an MTLSharedEvent, whose value is the number of the last work done
  std::vector<Awaited> awaited_;        // before the next work
  std::optional<sdk::Error> failure_;   // of the next work
  mutable std::mutex mutex_;            // guards the members below
  uint64_t last_ = 0, retired_ = 0;
  uint64_t retired_ns_ = 0;  // when the device had done it
  std::list<Submission> pending_;
  std::shared_ptr<EventSpan> open_ = std::make_shared<EventSpan>();
  std::list<std::shared_ptr<EventSpan>> closed_;  // not known to be done
};

}  // namespace ferrule::metal
