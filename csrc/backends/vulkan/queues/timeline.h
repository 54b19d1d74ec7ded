// Tracks the submissions of a queue by the values of its semaphore, and the errors of its event spans.
#pragma once

#include <list>
#include <mutex>

#include "commands/command_buffers.h"
#include "queues/submission.h"

namespace ferrule::vulkan {

// Work is numbered in the order it is submitted, and done in that order.
//
// Work belongs to the span that is open when it is submitted. An error found afterwards is the error of that span
// alone; later work still runs. A lost device is lost for all its queues: nothing more is submitted, and all work
// counts as done. The loss is the error of each span that was not known to be done, of each span that gets work, and of
// each span that is closed.
class Timeline {
 public:
  Timeline(std::shared_ptr<Context> context, Engine engine);
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;
  ~Timeline() = default;

  // ---- for one thread at a time: the one that uses the queue

  // Returns the number of this work; 0, without effect, while the device is lost: waits report it. See Queue::submit.
  uint64_t submit(const AllocationSet& touched, const Commands::Record& record, std::shared_ptr<void> keep_alive,
                  std::function<void()> after);
  // Notes that the host has done work for the queue.
  void note_host_work();
  // Later work will begin, on the device, after that span of another queue. Throws FE_UNSUPPORTED unless both queues
  // are of the same device.
  void wait_for(const Timeline& other, const EventSpan& span);
  // Closes the open span, and opens the next.
  std::shared_ptr<const EventSpan> record();
  // The number of the last work that touches this memory or waits for other queues; 0 if all of it is done.
  uint64_t last_use(const AllocationSet& touched);
  // Whether the device is lost. Call it only to add work: if lost, the open span gets the error.
  bool is_lost();
  // See Context::lose_when_idle. Work of this queue's closed spans is done first, so they do not get the error.
  void lose_on_purpose(const sdk::Error& error);
  // Waits for all work, and opens a span. Throws, and changes nothing, if the device is lost or it cannot wait.
  void reset();
  // Waits for all work, for a limited time; false if the work may not be done. Also waits for work that a lost device
  // continues.
  bool ends();

  // ---- thread-safe

  // Whether that work is done. If so, runs the functions that were to run after it.
  bool has_passed(uint64_t value);
  // Waits until that work is done; throws FE_TIMEOUT after `timeout_ns` if that is >= 0.
  void pass(uint64_t value, int64_t timeout_ns);
  // Waits for the end of the span; throws the error of the span, too.
  void wait(const EventSpan& span, int64_t timeout_ns);
  // The time at which the end of a span was passed, in nanoseconds of the host's monotonic clock. Throws FE_TIMEOUT if
  // it was not passed, FE_UNSUPPORTED if the time is unknown.
  uint64_t time(const EventSpan& span);

 private:
  // Longer than any driver's watchdog lets work run.
  static constexpr int64_t longest_wait_for_idle_ns = 30'000'000'000;
  VkResult submit(const Submission& submission);
  // Submits waits that no submission carries yet, so that they have a number.
  void submit_waits();
  VkResult wait_for_semaphore(uint64_t value, int64_t timeout_ns) const;
  uint64_t last() const;
  Timestamp take_timestamp();
  void retire();

  // The caller holds the mutex.
  uint64_t passed_value();
  void retire(std::list<Submission>& over);
  void note_time(const Submission& submission);
  void drop_done_spans();
  void run_after(const Submission& submission) const;
  void lose(const char* call);
  void notice_loss();

  const std::shared_ptr<Context> context_;
  const Engine engine_;
  Commands commands_;
  const std::shared_ptr<Semaphore> semaphore_;
  std::vector<Awaited> awaited_;  // for the next submission
  mutable std::mutex mutex_;      // guards the members below
  std::optional<TimestampPool> timestamps_;
  uint64_t last_ = 0;
  uint64_t retired_ = 0;                       // known to be done, or lost
  std::optional<uint64_t> retired_timestamp_;  // when it was done
  std::list<Submission> pending_;
  std::shared_ptr<EventSpan> open_ = std::make_shared<EventSpan>();
  std::list<std::shared_ptr<EventSpan>> closed_;  // not known to be done
  struct ReportedTime {
    uint64_t span = 0, ns = 0;
  } last_reported_;                         // the latest time that was read, as converted device times may go back
  std::shared_ptr<const sdk::Error> loss_;  // as this queue knows it; null if not lost
};

}  // namespace ferrule::vulkan
