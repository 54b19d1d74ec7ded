// What a queue has submitted, by the values that its semaphore passes: who waits for which, and with what error.
#pragma once

#include <list>
#include <mutex>

#include "queues/command_buffers.h"
#include "queues/submission.h"

namespace ferrule::vulkan {

// All work is numbered as it comes, and done in that order.
//
// Work belongs to the span that is open when it is given. What is found wrong with it afterwards is the error of that
// span alone: later work is done all the same. A lost device is lost for all its queues: no more is submitted, all work
// counts as done, and the loss is the error of each span that was not known to be done, of each that is given work, and
// of each that is closed, until a queue is reset.
class Timeline {
 public:
  Timeline(std::shared_ptr<Context> context, Engine engine);
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;
  ~Timeline() = default;

  // ---- by one thread at a time: the one that uses the queue

  // Returns the number of this work; 0, and without effect, while the device is lost: waits tell. See Queue::submit.
  uint64_t submit(const AllocationSet& touched, const Commands::Record& record, std::shared_ptr<void> keep_alive,
                  std::function<void()> after);
  // The host has done something for the queue.
  void note_host_work();
  // Work from now on begins, on the device, after that span of another queue. Throws FE_UNSUPPORTED unless the queues
  // are of the same device.
  void wait_for(const Timeline& other, const EventSpan& span);
  // Closes the open span, and opens the next.
  std::shared_ptr<const EventSpan> record();
  // The number of the last work that touches this memory, or that waits for other queues; 0 where none of it is left.
  uint64_t last_use(const AllocationSet& touched);
  // Whether the device is lost, and nobody has brought it back. Asked by who has work: the open span has the error
  // then.
  bool is_lost();
  // See Context::lose_when_idle. The work of this queue's closed spans is done: they have no error of it.
  void lose_on_purpose(const sdk::Error& error);
  // Waits for all work, brings the device back, and opens a span. Throws, and changes nothing, when it cannot wait.
  void reset();
  // Waits for all work, though not for ever; false when it is not known to be over. A device may go on for a while
  // after it was lost: that is waited for, too.
  bool ends();

  // ---- by any thread

  // Whether that work is done. What is to be run after it has been, then.
  bool has_passed(uint64_t value);
  // Waits until that work is done; throws FE_TIMEOUT when `timeout_ns` >= 0 passes.
  void pass(uint64_t value, int64_t timeout_ns);
  // Waits for the end of the span; throws its error, too.
  void wait(const EventSpan& span, int64_t timeout_ns);
  // When the end of a span was passed: nanoseconds of the host's monotonic clock. Throws FE_TIMEOUT when it was not,
  // FE_UNSUPPORTED when nobody knows when.
  uint64_t time(const EventSpan& span);

 private:
  // Longer than any watchdog of a driver lets work run.
  static constexpr int64_t longest_wait_for_idle_ns = 30'000'000'000;
  VkResult submit(const Submission& submission);
  // A wait that no submission carries yet is unknown to the numbers.
  void submit_waits();
  VkResult wait_for_semaphore(uint64_t value, int64_t timeout_ns) const;
  uint64_t last() const;
  Timestamp take_timestamp();
  void retire();

  // The mutex is held where these are called.
  uint64_t passed_value();
  void retire(std::list<Submission>& over);
  void note_time(const Submission& submission);
  void drop_done_spans();
  void run_after(const Submission& submission) const;
  void lose(const char* call);
  void notice_loss();
  void forget_loss();

  const std::shared_ptr<Context> context_;
  const Engine engine_;
  Commands commands_;
  const std::shared_ptr<Semaphore> semaphore_;
  std::vector<Awaited> awaited_;  // by the next submission
  mutable std::mutex mutex_;      // of what follows
  std::optional<TimestampPool> timestamps_;
  uint64_t last_ = 0;
  uint64_t retired_ = 0;                       // is known to be done, or was lost
  std::optional<uint64_t> retired_timestamp_;  // when that was done
  std::list<Submission> pending_;
  std::shared_ptr<EventSpan> open_ = std::make_shared<EventSpan>();
  std::list<std::shared_ptr<EventSpan>> closed_;  // not known to be done
  struct ReportedTime {
    uint64_t span = 0, ns = 0;
  } last_reported_;  // the time of the latest span that was asked for: by the device's clock alone times might go back
  std::shared_ptr<const sdk::Error> loss_;  // as this queue knows it; null while it works
};

}  // namespace ferrule::vulkan
