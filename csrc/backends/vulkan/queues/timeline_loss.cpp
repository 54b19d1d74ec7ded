// Handling of a lost device by its queues.
#include "queues/timeline.h"

namespace ferrule::vulkan {

bool Timeline::is_lost() {
  const std::lock_guard lock(mutex_);
  notice_loss();
  if (loss_) open_->error = *loss_;  // the caller has work, which will not be done
  return loss_ != nullptr;
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
  const std::lock_guard lock(mutex_);
  if (loss_) throw sdk::Error(*loss_);
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

}  // namespace ferrule::vulkan
