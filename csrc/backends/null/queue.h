// A queue whose work is run by a schedule.
#pragma once

#include "faults.h"
#include "schedule.h"

#include <chrono>
#include <deque>
#include <filesystem>
#include <thread>

namespace ferrule::null {

// The speed of a device: how it runs its work, and the time that the work takes on the device's clock.
struct Pace {
  Doing doing = Doing::at_once;
  std::chrono::milliseconds delay{0};  // of each timed execution
  std::filesystem::path held_while;    // no execution ends while this file exists
  uint64_t latency_ns = 0;             // of each piece of work
  uint64_t execution_ns = 0;
  uint64_t bytes_per_second = 0;  // of copies; 0 = no limit
  uint64_t copy_ns(uint64_t bytes) const {
    if (bytes_per_second == 0) return latency_ns;
    return latency_ns + static_cast<uint64_t>(1e9 * static_cast<double>(bytes) / static_cast<double>(bytes_per_second));
  }
};

// State that the queues of a device share.
struct Shared {
  Shared(std::shared_ptr<Schedule> of, const sdk::Options& options, const Pace& at)
      : schedule(std::move(of)), faults(options), pace(at) {}
  std::shared_ptr<Schedule> schedule;
  std::shared_ptr<Health> health = std::make_shared<Health>();
  Faults faults;
  const Pace pace;
};

class Event final : public sdk::Event {
 public:
  Event(std::shared_ptr<Shared> shared, WorkPointer last, std::shared_ptr<Span> span)
      : shared_(std::move(shared)), last_(std::move(last)), span_(std::move(span)) {}
  const WorkPointer& work() const { return last_; }
  bool done() override { return shared_->schedule->has_passed(last_); }
  void wait(int64_t timeout_ns) override {
    shared_->faults.waits.fail_when_due();
    shared_->schedule->pass(last_, timeout_ns);
    if (const auto error = shared_->schedule->error_of(*span_)) throw sdk::Error(*error);
  }
  uint64_t time() override { return last_ ? last_->end_ns : 0; }

 private:
  std::shared_ptr<Shared> shared_;
  WorkPointer last_;
  std::shared_ptr<Span> span_;
};

class Queue final : public sdk::Queue {
 public:
  explicit Queue(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  ~Queue() override {
    shared_->schedule->finish(last_);
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      is_ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  // Gives the queue work. `effect` is called when the work runs.
  void give(uint64_t duration_ns, Effect effect, std::chrono::milliseconds delay = {}) {
    shared_->faults.given.fail_when_due();
    const std::lock_guard lock(giving_);
    add(nullptr, duration_ns, std::move(effect), delay);
  }
  // May also be called for another library, to which this queue is a stream, on any thread.
  void wait_for(sdk::Event& event) override {
    const std::lock_guard lock(giving_);
    if (const WorkPointer& work = static_cast<Event&>(event).work()) add(work, 0, {}, {});
  }
  std::unique_ptr<sdk::Event> record() override {
    shared_->faults.records.fail_when_due();
    const std::lock_guard lock(giving_);
    return std::make_unique<Event>(shared_, last_, std::exchange(span_, std::make_shared<Span>()));
  }
  void reset() override {
    shared_->faults.resets.fail_when_due();
    const std::lock_guard lock(giving_);
    shared_->schedule->finish(last_);
    shared_->schedule->check(*shared_->health);
    span_ = std::make_shared<Span>();
  }
  void* native() override { return this; }

 private:
  void add(const WorkPointer& event, uint64_t duration_ns, Effect effect, std::chrono::milliseconds delay) {
    Work work;
    if (last_) work.after.push_back(last_);
    if (event) work.after.push_back(event);
    work.effect = std::move(effect);
    work.span = span_;
    work.health = shared_->health;
    work.doing = shared_->pace.doing;
    last_ = shared_->schedule->give(std::move(work), duration_ns);
    if (last_->doing != Doing::timed) return;
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
    {
      const std::lock_guard lock(mutex_);
      pending_.push_back({last_, delay});
    }
    changed_.notify_all();
  }

  struct Timed {
    WorkPointer work;
    std::chrono::milliseconds delay;
  };
  void run() {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return is_ending_ || !pending_.empty(); });
      if (pending_.empty()) return;
      const Timed next = std::move(pending_.front());
      pending_.pop_front();
      lock.unlock();
      if (next.delay.count() > 0) std::this_thread::sleep_for(next.delay);
      shared_->schedule->do_timed(next.work);
    }
  }

  std::shared_ptr<Shared> shared_;
  std::mutex giving_;  // guards the next two
  WorkPointer last_;
  std::shared_ptr<Span> span_ = std::make_shared<Span>();
  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::deque<Timed> pending_;
  bool is_ending_ = false;
  std::thread thread_;
};

}  // namespace ferrule::null
