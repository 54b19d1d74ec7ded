// What a queue has submitted, by the values that semaphores pass: who waits for which, and with what error.
#pragma once

#include "lane.h"

namespace ferrule::vulkan {

// All work is numbered as it comes; each engine has a semaphore that passes the numbers of its own work. An engine does
// one thing after the other, and waits for the other engine only where its work touches the same memory.
//
// Work belongs to the span that is open when it is given. What is found wrong with it afterwards is the error of that
// span alone: later work is done all the same. A lost device is lost for all its queues: no more is submitted, every
// moment counts as passed, and the loss is the error of each span that was not known to be done, of each that is given
// work, and of each that is closed, until a queue is reset.
class Timeline {
 public:
  explicit Timeline(std::shared_ptr<Context> context);
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;
  ~Timeline() = default;

  // ---- by one thread at a time: the one that uses the queue

  // Returns when this work is done. Without effect while the device is lost: waits tell. Work of an engine that the
  // device does not have is the computing one's. See Queue::submit.
  Moment submit(Engine engine, const Touched& touched, const Commands::Record& record, std::shared_ptr<void> keep_alive,
                std::function<void()> after);
  // Work from now on begins, on the device, after that span of another queue. Throws FE_UNSUPPORTED unless the queues
  // are of the same device.
  void wait_for(const Timeline& other, const Span& span);
  // Closes the open span, and opens the next.
  std::shared_ptr<const Span> record();
  // When that is done which touches this memory, and what it waits for in other queues.
  Moment last_use(const Touched& touched);
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

  bool has_passed(const Moment& moment);
  // Waits until the work up to then is done; throws FE_TIMEOUT when `timeout_ns` >= 0 passes.
  void pass(Moment moment, int64_t timeout_ns);
  // Waits for the end of the span; throws its error, too.
  void wait(const Span& span, int64_t timeout_ns);

 private:
  // Longer than any watchdog of a driver lets work run.
  static constexpr int64_t longest_farewell_ns = 30'000'000'000;
  Lane& lane_of(Engine engine) const { return *lanes_[std::min(static_cast<size_t>(engine), lanes_.size() - 1)]; }
  VkResult submit(const Lane& lane, const Submission& submission);
  // A wait that no submission carries yet is unknown to moments.
  void submit_waits();
  VkResult wait_for_semaphores(const Moment& moment, int64_t timeout_ns) const;
  Moment now() const;
  void retire();

  // The mutex is held where these are called.
  Moment unretired(Moment moment) const;
  uint64_t passed_value(const Lane& lane);
  void retire(std::list<Submission>& over);
  void drop_done_spans();
  void run_after(const Submission& submission) const;
  void lose(const char* call);
  void notice_loss();
  void forget_loss();

  std::shared_ptr<Context> context_;
  std::vector<std::unique_ptr<Lane>> lanes_;  // by Engine
  bool has_new_wait_ = false;                 // of another queue's event, since the last submission
  mutable std::mutex mutex_;                  // of what follows, and of the lanes and spans
  uint64_t last_ = 0;
  std::shared_ptr<Span> open_ = std::make_shared<Span>();
  std::list<std::shared_ptr<Span>> closed_;  // not known to be done
  std::shared_ptr<const sdk::Error> loss_;   // as this queue knows it; null while it works
};

}  // namespace ferrule::vulkan
