// The submissions of a queue, in order, and the events between them: for devices that do work behind the host.
#ifndef FERRULE_CPP_TIMELINE_HPP
#define FERRULE_CPP_TIMELINE_HPP

#include <ferrule/cpp/device.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace ferrule::sdk {

// The work between two events of a queue. The second event reports its error, and when it was passed. The timeline
// guards all but `end`.
template <class Time>
struct EventSpan {
  uint64_t number = 0;              // in its queue
  uint64_t end = 0;                 // the number of the last work before the second event; set by that event
  std::optional<Error> error = {};  // the first, unless the device was lost
  uint64_t host_ns = 0;             // when the host last did part of the work, or first recorded the event
  bool is_of_device = false;        // the device, not the host, passes the second event
  Time time = {};                   // when it did
};

// Work is numbered in the order in which it is submitted, from 1 on, and done in that order.
//
// Work belongs to the span that is open when it is submitted. An error found afterwards is the error of that span
// alone; later work still runs. A lost device is lost for all its queues: nothing more is submitted, and all work
// counts as done. The loss is the error of each span that was not known to be done, of each span that gets work, and of
// each span that is closed.
//
// `Device` describes the module's device by types:
//   Touched  the memory that some work uses; touched.intersects(other)
//   Work     a submission, as the device knows it
//   Encode   a function that writes the work for the device
//   After    a function that is called when the work is known to be done without error
//   Signal   what the device signals with the number of work that is done, and other queues wait for
//   Time     when the device had done some work, in its own form
template <class Device>
class Timeline : public std::enable_shared_from_this<Timeline<Device>> {
 public:
  using Touched = typename Device::Touched;
  using Work = typename Device::Work;
  using Encode = typename Device::Encode;
  using After = typename Device::After;
  using Signal = typename Device::Signal;
  using Span = EventSpan<typename Device::Time>;

  virtual ~Timeline() = default;
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  // ---- for one thread at a time: the one that uses the queue

  // Submits work that `encode` writes, and returns its number; 0, without effect, while the device is lost: waits
  // report it. `keep_alive` is released when the work is done. What `after` throws is the span's error, unless it has
  // one.
  uint64_t submit(Touched touched, const Encode& encode, std::shared_ptr<void> keep_alive = {}, After after = {}) {
    retire();
    if (is_lost()) return 0;
    std::list<Submission> submission;
    submission.push_back(
        {last_ + 1, std::move(touched), Work(), std::move(keep_alive), std::move(after), open_, awaited_});
    const bool is_submitted = start(submission.front(), encode);
    const std::lock_guard lock(mutex_);
    if (!is_submitted) {
      notice_loss();
      open_->error = *loss_;
      return 0;
    }
    pending_.splice(pending_.end(), submission);
    open_->is_of_device = true;
    awaited_.clear();
    return ++last_;
  }
  // Notes that the host has done work for the queue.
  void note_host_work() {
    const std::lock_guard lock(mutex_);
    open_->host_ns = monotonic_ns();
  }
  // Later work begins, on the device, after that span of another queue, also if its work fails. Throws FE_UNSUPPORTED
  // unless both queues are of one opening of a device.
  void wait_for(Timeline& other, const Span& span) {
    if (&other == this) return;  // a queue is in order with itself
    if (!shares_device(other))
      throw Error(FE_UNSUPPORTED, label() + " cannot wait for an event of another device or opening");
    if (is_lost() || span.end == 0) return;
    // Work that is done needs this, too: the signal makes its results visible.
    for (Awaited& awaited : awaited_)
      if (awaited.signal == other.signal_) return void(awaited.number = std::max(awaited.number, span.end));
    awaited_.push_back({other.signal_, span.end, other.weak_from_this()});
  }
  // Ends the open span, and begins the next.
  virtual std::shared_ptr<const Span> record() {
    submit_waits();
    auto next = std::make_shared<Span>();
    next->number = open_->number + 1;
    std::list<std::shared_ptr<Span>> closing = {open_};
    const std::lock_guard lock(mutex_);
    notice_loss();
    if (loss_) open_->error = *loss_;
    if (open_->host_ns == 0 && !open_->is_of_device) open_->host_ns = monotonic_ns();
    if (last_ == retired_)
      open_->time = retired_time_;
    else
      open_->is_of_device = true;
    open_->end = last_;
    closed_.splice(closed_.end(), closing);
    drop_done_spans();
    return std::exchange(open_, std::move(next));
  }
  // The number of the last work that touches this memory or waits for other queues; 0 if all of it is done.
  uint64_t last_use(const Touched& touched) {
    submit_waits();
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(pending_.rbegin(), pending_.rend(), [&](const Submission& submission) {
      return !submission.awaited.empty() || submission.touched.intersects(touched);
    });
    return found != pending_.rend() ? found->number : 0;
  }
  // Whether the device is lost. Call it only to add work: if lost, the open span gets the error.
  bool is_lost() {
    const std::lock_guard lock(mutex_);
    notice_loss();
    if (loss_) open_->error = *loss_;
    return loss_ != nullptr;
  }
  // Waits for all work, and opens a span. Throws, and changes nothing, if the device is lost or it cannot wait.
  virtual void reset() {
    auto next = std::make_shared<Span>();
    pass(last(), -1);
    const std::lock_guard lock(mutex_);
    notice_loss();
    if (loss_) throw Error(*loss_);
    next->number = open_->number + 1;
    open_ = std::move(next);
  }

  // ---- thread-safe

  // Whether that work is done. If so, calls what was to be called after it.
  virtual bool has_passed(uint64_t number) {
    std::list<Submission> over;
    const std::lock_guard lock(mutex_);
    notice_loss();
    if (loss_ || number <= retired_) return true;
    retire(over);
    return loss_ || number <= retired_;
  }
  // Waits until that work is done; throws FE_TIMEOUT after `timeout_ns` if that is >= 0.
  virtual void pass(uint64_t number, int64_t timeout_ns) = 0;
  // Waits until the end of a span is passed, as pass() does; then throws the span's error, if any.
  void wait(const Span& span, int64_t timeout_ns) {
    pass(span.end, timeout_ns);
    const std::lock_guard lock(mutex_);
    if (span.error) throw Error(*span.error);
  }
  // The time at which the end of a span was passed, in nanoseconds of the host's clock. Throws FE_TIMEOUT if it was not
  // passed.
  virtual uint64_t time(const Span& span) = 0;

 protected:
  struct Awaited {
    std::shared_ptr<Signal> signal;
    uint64_t number;
    std::weak_ptr<Timeline> timeline;
  };
  struct Submission {
    uint64_t number;  // and what the queue's signal gets when it is done
    Touched touched;
    Work work;
    std::shared_ptr<void> keep_alive;
    After after;
    std::shared_ptr<Span> span;
    std::vector<Awaited> awaited;  // keeps the signals alive until it is done
  };

  explicit Timeline(std::shared_ptr<Signal> signal) : signal_(std::move(signal)) {}

  // ---- what the device does

  // "vulkan: a queue of <device>"
  virtual std::string label() const = 0;
  virtual bool shares_device(const Timeline& other) const = 0;
  // Sets `work` to what it has submitted. False, without effect, if the device is lost.
  virtual bool start(Submission& submission, const Encode& encode) = 0;
  virtual std::shared_ptr<const Error> loss() const = 0;

  // The caller of the next functions holds the mutex.
  // The number of the last work that is over, with or without error.
  virtual uint64_t passed() = 0;
  // Ends work that is over: calls `after`, unless it failed, and sets `time` if it is known when the device had done
  // it. Throws the error of the work.
  virtual void finish(Submission& submission, typename Device::Time& time) = 0;

  // ---- for those functions

  uint64_t last() const {
    const std::lock_guard lock(mutex_);
    return last_;
  }
  void retire() {
    std::list<Submission> over;  // destroyed, with what they keep alive, after the lock is released
    const std::lock_guard lock(mutex_);
    retire(over);
  }
  // The caller holds the mutex.
  void retire(std::list<Submission>& over) {
    const uint64_t passed_number = pending_.empty() ? 0 : passed();
    while (!pending_.empty() && pending_.front().number <= passed_number) {
      Submission& submission = pending_.front();
      std::optional<Error>& found = submission.span->error;
      try {
        finish(submission, retired_time_);
      } catch (const Error& error) {
        if (!found) found = error;
      } catch (const std::exception& error) {
        if (!found) found = Error(FE_INTERNAL, error.what());
      }
      retired_ = submission.number;
      submission.span->time = retired_time_;
      for (const auto& span : closed_)
        if (span->end == retired_) span->time = retired_time_;
      over.splice(over.end(), pending_, pending_.begin());
    }
    drop_done_spans();
    notice_loss();
  }
  void notice_loss() {
    if (loss_) return;
    loss_ = loss();
    if (!loss_) return;
    for (const auto& span : closed_) span->error = *loss_;
    if (!pending_.empty()) pending_.back().span->error = *loss_;
  }

  const std::shared_ptr<Signal> signal_;
  mutable std::mutex mutex_;  // guards the members below
  std::list<Submission> pending_;
  uint64_t last_ = 0, retired_ = 0;    // retired: known to be done, or lost
  std::shared_ptr<const Error> loss_;  // as this queue knows it; null if not lost
  std::shared_ptr<Span> open_ = std::make_shared<Span>();

 private:
  // Submits waits that no submission carries yet, so that they have a number.
  void submit_waits() {
    if (!awaited_.empty()) submit({}, [](auto...) {});
  }
  void drop_done_spans() {
    const uint64_t first_pending = pending_.empty() ? last_ + 1 : pending_.front().number;
    while (!closed_.empty() && closed_.front()->end < first_pending) closed_.pop_front();
  }

  std::vector<Awaited> awaited_;             // for the next submission; of the thread that uses the queue
  typename Device::Time retired_time_ = {};  // when the retired work was done
  std::list<std::shared_ptr<Span>> closed_;  // not known to be done
};

// An event of a queue: the end of a span.
template <class Timeline>
class TimelineEvent final : public Event {
 public:
  explicit TimelineEvent(std::shared_ptr<Timeline> timeline)
      : timeline_(std::move(timeline)), span_(timeline_->record()) {}
  bool done() override { return timeline_->has_passed(span_->end); }
  uint64_t time() override { return timeline_->time(*span_); }
  void wait(int64_t timeout_ns) override { timeline_->wait(*span_, timeout_ns); }
  // Lets later work of a queue wait for it.
  void hold_up(Timeline& waiting) const { waiting.wait_for(*timeline_, *span_); }

 private:
  std::shared_ptr<Timeline> timeline_;
  std::shared_ptr<const typename Timeline::Span> span_;
};

}  // namespace ferrule::sdk

#endif
