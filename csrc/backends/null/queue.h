// A queue whose work takes a while: a thread does it when its time has come, as a device would.
#pragma once

#include "faults.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace ferrule::null {

// How far the work of a queue has come. Its events share it.
class Progress {
 public:
  uint64_t given() const {
    const std::lock_guard lock(mutex_);
    return given_;
  }
  bool has_passed(uint64_t number) const {
    const std::lock_guard lock(mutex_);
    return done_ >= number;
  }
  uint64_t give() {
    const std::lock_guard lock(mutex_);
    return ++given_;
  }
  void finish(uint64_t number) {
    const std::lock_guard lock(mutex_);
    done_ = number;
    changed_.notify_all();
  }
  void wait(uint64_t number) const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return done_ >= number; });
  }
  bool wait_for(uint64_t number, std::chrono::nanoseconds timeout) const {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, timeout, [&] { return done_ >= number; });
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  uint64_t given_ = 0, done_ = 0;
};

class TimedEvent final : public sdk::Event {
 public:
  TimedEvent(std::shared_ptr<Progress> progress, std::shared_ptr<Faults> faults, std::optional<sdk::Error> error)
      : progress_(std::move(progress)),
        faults_(std::move(faults)),
        number_(progress_->given()),
        error_(std::move(error)) {}
  bool done() override { return progress_->has_passed(number_); }
  void wait(int64_t timeout_ns) override {
    faults_->waits.fail_when_due("wait");
    if (timeout_ns < 0)
      progress_->wait(number_);
    else if (!progress_->wait_for(number_, std::chrono::nanoseconds(timeout_ns)))
      throw sdk::Error(FE_TIMEOUT, "null: the queue was still working");
    if (error_) throw *error_;
  }

 private:
  std::shared_ptr<Progress> progress_;
  std::shared_ptr<Faults> faults_;
  uint64_t number_;
  std::optional<sdk::Error> error_;
};

class TimedQueue final : public sdk::Queue {
 public:
  explicit TimedQueue(std::shared_ptr<Faults> faults) : faults_(std::move(faults)) {}
  TimedQueue(const TimedQueue&) = delete;
  TimedQueue& operator=(const TimedQueue&) = delete;
  ~TimedQueue() override {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      is_ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  // `effect` is what the device writes when the time is over; at once when the work takes none.
  void work(std::function<void()> effect) {
    if (faults_->duration.count() == 0) {
      effect();
      return;
    }
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
    {
      const std::lock_guard lock(mutex_);
      pending_.push_back({progress_->give(), std::move(effect)});
    }
    changed_.notify_all();
  }
  void wait() const { progress_->wait(progress_->given()); }

  void poison(fe_code code, const std::string& message) { error_.emplace(code, message); }
  bool poisoned() const { return error_.has_value(); }
  std::unique_ptr<sdk::Event> record() override {
    faults_->records.fail_when_due("record");
    return std::make_unique<TimedEvent>(progress_, faults_, error_);
  }
  void reset() override {
    faults_->resets.fail_when_due("reset");
    wait();
    error_.reset();
  }

 private:
  struct Work {
    uint64_t number;
    std::function<void()> effect;
  };
  // One thing after the other, and all of it before the queue ends.
  void run() {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return is_ending_ || !pending_.empty(); });
      if (pending_.empty()) return;
      const Work work = std::move(pending_.front());
      pending_.pop_front();
      lock.unlock();
      std::this_thread::sleep_for(faults_->duration);
      work.effect();
      progress_->finish(work.number);
    }
  }

  std::shared_ptr<Faults> faults_;
  std::shared_ptr<Progress> progress_ = std::make_shared<Progress>();
  std::optional<sdk::Error> error_;
  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::deque<Work> pending_;
  bool is_ending_ = false;
  std::thread thread_;
};

}  // namespace ferrule::null
