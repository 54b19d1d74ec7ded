#include "queues/timeline.h"

#include <algorithm>

namespace ferrule::vulkan {

Timeline::Timeline(std::shared_ptr<Context> context, Engine engine)
    : context_(std::move(context)),
      engine_(engine),
      commands_(*context_, engine),
      semaphore_(std::make_shared<Semaphore>(*context_)) {
  if (context_->tells_times(engine)) timestamps_.emplace(*context_);
}

uint64_t Timeline::submit(const AllocationSet& touched, const Commands::Record& record,
                          std::shared_ptr<void> keep_alive, std::function<void()> after) {
  retire();
  if (is_lost()) return 0;
  const Timestamp timestamp = take_timestamp();
  const uint64_t value = last_ + 1;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  const auto give_back = [&] {
    if (commands != VK_NULL_HANDLE) commands_.give_back(commands);
    if (timestamps_) timestamps_->give_back(timestamp);
  };
  VkResult result = VK_SUCCESS;
  std::list<Submission> submission;
  try {
    commands = commands_.recorded([&](VkCommandBuffer recorded) {
      record(recorded);
      if (timestamp.all != nullptr)
        timestamp.all->write(recorded, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, timestamp.which);
    });
    submission.push_back(
        {value, touched, commands, std::move(keep_alive), std::move(after), open_, awaited_, timestamp});
    result = submit(submission.front());
  } catch (...) {
    const std::lock_guard lock(mutex_);
    give_back();
    throw;
  }
  const std::lock_guard lock(mutex_);
  if (result != VK_SUCCESS) {
    give_back();
    if (result != VK_ERROR_DEVICE_LOST) check(result, "vkQueueSubmit");
    lose("vkQueueSubmit");
    return 0;
  }
  pending_.splice(pending_.end(), submission);
  last_ = value;
  open_->is_of_device = true;
  awaited_.clear();
  return value;
}

VkResult Timeline::submit(const Submission& submission) {
  std::vector<VkSemaphore> semaphores;
  std::vector<uint64_t> values;
  for (const Awaited& other : submission.awaited) {
    semaphores.push_back(other.semaphore->handle());
    values.push_back(other.value);
  }
  const std::vector<VkPipelineStageFlags> stages(semaphores.size(), stages_of(engine_));
  const VkSemaphore passing = semaphore_->handle();
  auto timeline = typed<VkTimelineSemaphoreSubmitInfo>(VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
  timeline.waitSemaphoreValueCount = static_cast<uint32_t>(values.size());
  timeline.pWaitSemaphoreValues = values.data();
  timeline.signalSemaphoreValueCount = 1;
  timeline.pSignalSemaphoreValues = &submission.value;
  auto info = typed<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
  info.pNext = &timeline;
  info.waitSemaphoreCount = static_cast<uint32_t>(semaphores.size());
  info.pWaitSemaphores = semaphores.data();
  info.pWaitDstStageMask = stages.data();
  info.commandBufferCount = 1;
  info.pCommandBuffers = &submission.commands;
  info.signalSemaphoreCount = 1;
  info.pSignalSemaphores = &passing;
  return context_->submit(engine_, info);
}

Timestamp Timeline::take_timestamp() {
  const std::lock_guard lock(mutex_);
  return timestamps_ && sdk::is_tracing() ? timestamps_->take() : Timestamp{};
}

void Timeline::note_host_work() {
  const std::lock_guard lock(mutex_);
  open_->host_ns = sdk::monotonic_ns();
}

void Timeline::wait_for(const Timeline& other, const EventSpan& span) {
  if (&other == this) return;  // a queue is always in order with itself
  if (context_ != other.context_)
    throw sdk::Error(FE_UNSUPPORTED, "vulkan: a queue of " + context_->physical().description.name +
                                         " cannot wait for an event of another device or opening");
  if (is_lost() || span.end == 0) return;
  // Work that is done needs this, too: the semaphore makes its results visible.
  const auto known = std::find_if(awaited_.begin(), awaited_.end(),
                                  [&](const Awaited& awaited) { return awaited.semaphore == other.semaphore_; });
  if (known == awaited_.end())
    awaited_.push_back({other.semaphore_, span.end});
  else
    known->value = std::max(known->value, span.end);
}

void Timeline::submit_waits() {
  if (!awaited_.empty()) submit({}, [](VkCommandBuffer) {}, {}, {});
}

std::shared_ptr<const EventSpan> Timeline::record() {
  submit_waits();
  auto next = std::make_shared<EventSpan>();
  next->number = open_->number + 1;
  std::list<std::shared_ptr<EventSpan>> closing = {open_};
  const std::lock_guard lock(mutex_);
  notice_loss();
  if (loss_) open_->error = *loss_;
  if (open_->host_ns == 0 && !open_->is_of_device) open_->host_ns = sdk::monotonic_ns();
  if (last_ == retired_)
    open_->timestamp = retired_timestamp_;
  else
    open_->is_of_device = true;
  open_->end = last_;
  closed_.splice(closed_.end(), closing);
  drop_done_spans();
  return std::exchange(open_, std::move(next));
}

uint64_t Timeline::last_use(const AllocationSet& touched) {
  submit_waits();
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(pending_.rbegin(), pending_.rend(), [&](const Submission& submission) {
    return !submission.awaited.empty() || submission.touched.intersects(touched);
  });
  return found != pending_.rend() ? found->value : 0;
}

uint64_t Timeline::last() const {
  const std::lock_guard lock(mutex_);
  return last_;
}

bool Timeline::has_passed(uint64_t value) {
  std::list<Submission> over;
  const std::lock_guard lock(mutex_);
  notice_loss();
  if (loss_ || value <= retired_) return true;
  retire(over);
  return loss_ || value <= retired_;
}

VkResult Timeline::wait_for_semaphore(uint64_t value, int64_t timeout_ns) const {
  const VkSemaphore semaphore = semaphore_->handle();
  auto info = typed<VkSemaphoreWaitInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO);
  info.semaphoreCount = 1;
  info.pSemaphores = &semaphore;
  info.pValues = &value;
  const uint64_t timeout = timeout_ns < 0 ? UINT64_MAX : static_cast<uint64_t>(timeout_ns);
  return context_->api().WaitSemaphores(context_->device(), &info, timeout);
}

void Timeline::pass(uint64_t value, int64_t timeout_ns) {
  bool was_lost = false;
  {
    const std::lock_guard lock(mutex_);
    notice_loss();
    was_lost = loss_ != nullptr;
    if (value == 0 || (!was_lost && value <= retired_)) return;
  }
  const VkResult result = was_lost ? VK_ERROR_DEVICE_LOST : wait_for_semaphore(value, timeout_ns);
  if (result == VK_TIMEOUT)
    throw sdk::Error(FE_TIMEOUT, "vulkan: the queue was still working after " + std::to_string(timeout_ns) + " ns");
  if (result != VK_ERROR_DEVICE_LOST) {
    check(result, "vkWaitSemaphores");
  } else {
    // A lost device may continue work that it has begun, for a while.
    const int64_t most = timeout_ns < 0 ? longest_wait_for_idle_ns : std::min(timeout_ns, longest_wait_for_idle_ns);
    static_cast<void>(wait_for_semaphore(value, most));
    const std::lock_guard lock(mutex_);
    if (!was_lost) lose("vkWaitSemaphores");
  }
  retire();
}

void Timeline::wait(const EventSpan& span, int64_t timeout_ns) {
  pass(span.end, timeout_ns);
  const std::lock_guard lock(mutex_);
  if (span.error) throw sdk::Error(*span.error);
}

uint64_t Timeline::time(const EventSpan& span) {
  if (!timestamps_)
    throw sdk::Error(FE_UNSUPPORTED, context_->physical().description.name + " does not tell the times of its work");
  if (!has_passed(span.end)) throw sdk::Error(FE_TIMEOUT, "vulkan: the queue has not passed this event");
  bool is_of_device = false;
  uint64_t ns = 0;
  std::optional<uint64_t> timestamp;
  {
    const std::lock_guard lock(mutex_);
    is_of_device = span.is_of_device;
    ns = span.host_ns;
    timestamp = span.timestamp;
  }
  const std::optional<uint64_t> of_device = timestamp ? context_->host_ns(*timestamp, engine_) : std::nullopt;
  if (is_of_device && !of_device)
    throw sdk::Error(FE_UNSUPPORTED,
                     "vulkan: no time was requested for this event, or the device does not provide one");
  ns = std::max(ns, of_device.value_or(0));
  const std::lock_guard lock(mutex_);
  if (span.number < last_reported_.span) return std::min(ns, last_reported_.ns);
  last_reported_ = {span.number, std::max(ns, last_reported_.ns)};
  return last_reported_.ns;
}

bool Timeline::ends() {
  const VkResult result = wait_for_semaphore(last(), longest_wait_for_idle_ns);
  if (result != VK_SUCCESS && result != VK_ERROR_DEVICE_LOST) return false;
  retire();
  return true;
}

void Timeline::retire() {
  std::list<Submission> over;  // destroyed, with what they keep alive, after the lock is released
  const std::lock_guard lock(mutex_);
  retire(over);
}

void Timeline::retire(std::list<Submission>& over) {
  if (!pending_.empty()) {
    const uint64_t passed = passed_value();
    while (!pending_.empty() && pending_.front().value <= passed) {
      const Submission& submission = pending_.front();
      note_time(submission);
      run_after(submission);
      commands_.give_back(submission.commands);
      retired_ = submission.value;
      over.splice(over.end(), pending_, pending_.begin());
    }
  }
  drop_done_spans();
  notice_loss();
}

void Timeline::note_time(const Submission& submission) {
  if (!timestamps_) return;
  const Timestamp& timestamp = submission.timestamp;
  retired_timestamp_ = loss_ || timestamp.all == nullptr ? std::nullopt : timestamp.all->read(timestamp.which);
  timestamps_->give_back(timestamp);
  submission.span->timestamp = retired_timestamp_;
  for (const auto& span : closed_)
    if (span->end == submission.value) span->timestamp = retired_timestamp_;
}

void Timeline::drop_done_spans() {
  const uint64_t first_pending = pending_.empty() ? last_ + 1 : pending_.front().value;
  while (!closed_.empty() && closed_.front()->end < first_pending) closed_.pop_front();
}

void Timeline::run_after(const Submission& submission) const {
  if (!submission.after || loss_) return;
  std::optional<sdk::Error>& found = submission.span->error;
  try {
    submission.after();
  } catch (const sdk::Error& error) {
    if (!found) found = error;
  } catch (const std::exception& error) {
    if (!found) found = sdk::Error(FE_INTERNAL, error.what());
  }
}

// All work of a lost device counts as passed: it will not touch memory any more.
uint64_t Timeline::passed_value() {
  if (loss_) return UINT64_MAX;
  uint64_t value = 0;
  const VkResult result = context_->api().GetSemaphoreCounterValue(context_->device(), semaphore_->handle(), &value);
  if (result == VK_SUCCESS) return value;
  if (result != VK_ERROR_DEVICE_LOST) check(result, "vkGetSemaphoreCounterValue");
  lose("vkGetSemaphoreCounterValue");
  return UINT64_MAX;
}

}  // namespace ferrule::vulkan
