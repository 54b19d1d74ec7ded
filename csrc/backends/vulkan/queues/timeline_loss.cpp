// Handling of a lost device by its queues.
#include "queues/timeline.h"

namespace ferrule::vulkan {

bool Timeline::is_lost() {
  {
    const std::lock_guard lock(mutex_);
    notice_loss();
    if (!loss_) return false;
    if (context_->loss()) {
      open_->error = *loss_;  // the caller has work, which will not be done
      return true;
    }
  }
  // Another queue was reset, which recovered the device.
  pass(last(), longest_wait_for_idle_ns);
  const std::lock_guard lock(mutex_);
  forget_loss();
  return false;
}

void Timeline::lose_on_purpose(const sdk::Error& error) {
  std::list<Submission> over;
  const std::lock_guard lock(mutex_);
  context_->lose_when_idle(error);
  retire(over);  // before the loss is noticed, because this work was done
}

void Timeline::reset() {
  auto next = std::make_shared<EventSpan>();
  pass(last(), -1);
  context_->recover();
  const std::lock_guard lock(mutex_);
  forget_loss();
  next->number = open_->number + 1;
  open_ = std::move(next);
}

void Timeline::lose(const char* call) {
  const sdk::Error error(FE_DEVICE_LOST, "vulkan: the device " + context_->physical().description.name + " was lost (" +
                                             call + " came back with VK_ERROR_DEVICE_LOST)");
  context_->lose(error);
  notice_loss();
  open_->error = error;
}

void Timeline::notice_loss() {
  if (loss_) return;
  loss_ = context_->loss();
  if (!loss_) return;
  for (const auto& span : closed_) span->error = *loss_;
  if (!pending_.empty()) pending_.back().span->error = *loss_;
}

void Timeline::forget_loss() {
  if (!loss_) return;
  loss_.reset();
  // Work of other queues is over or lost, too.
  awaited_.clear();
}

}  // namespace ferrule::vulkan
