// Tracks the submissions of a queue by the values of its semaphore, and the errors of its event spans.
#pragma once

#include "queues/submission.h"

namespace ferrule::vulkan {

class Timeline final : public sdk::Timeline<Submissions> {
 public:
  Timeline(std::shared_ptr<Context> context, Engine engine);

  // ---- for one thread at a time: the one that uses the queue

  // See Context::lose_when_idle. Work of this queue's closed spans is done first, so they do not get the error.
  void lose_on_purpose(const sdk::Error& error);
  // Waits for all work, for a limited time; false if the work may not be done. Also waits for work that a lost device
  // continues.
  bool ends();

  // ---- thread-safe

  void pass(uint64_t number, int64_t timeout_ns) override;
  // Also throws FE_UNSUPPORTED if the time is unknown.
  uint64_t time(const EventSpan& span) override;

 private:
  // Longer than any driver's watchdog lets work run.
  static constexpr int64_t longest_wait_for_idle_ns = 30'000'000'000;

  std::string label() const override { return "vulkan: a queue of " + context_->physical().description.name; }
  bool shares_device(const sdk::Timeline<Submissions>& other) const override {
    return context_ == static_cast<const Timeline&>(other).context_;
  }
  bool start(Submission& submission, const Commands::Record& record) override;
  std::shared_ptr<const sdk::Error> loss() const override { return context_->loss(); }
  uint64_t passed() override;
  void finish(Submission& submission, Submissions::Time& time) override;

  VkResult submit_to_device(const Submission& submission);
  VkResult wait_for_semaphore(uint64_t number, int64_t timeout_ns) const;
  Timestamp take_timestamp();
  void give_back(const Submissions::Work& work);
  // The caller holds the mutex.
  void lose(const char* call);

  const std::shared_ptr<Context> context_;
  const Engine engine_;
  Commands commands_;
  std::optional<TimestampPool> timestamps_;  // guarded by the mutex, like the next one
  struct ReportedTime {
    uint64_t span = 0, ns = 0;
  } last_reported_;  // the latest time that was read, as converted device times may go back
};

}  // namespace ferrule::vulkan
