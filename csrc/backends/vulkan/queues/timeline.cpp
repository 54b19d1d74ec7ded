#include "queues/timeline.h"

#include <algorithm>

namespace ferrule::vulkan {

Timeline::Timeline(std::shared_ptr<Context> context, Engine engine)
    : sdk::Timeline<Submissions>(std::make_shared<Semaphore>(context)),
      context_(std::move(context)),
      engine_(engine),
      commands_(*context_, engine) {
  if (context_->tells_times(engine)) timestamps_.emplace(*context_);
}

bool Timeline::start(Submission& submission, const Commands::Record& record) {
  Submissions::Work& work = submission.work;
  work.timestamp = take_timestamp();
  VkResult result = VK_SUCCESS;
  try {
    work.commands = commands_.recorded([&](VkCommandBuffer recorded) {
      record(recorded);
      const auto& [all, which] = work.timestamp;
      if (all != nullptr) all->write(recorded, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, which);
    });
    result = submit_to_device(submission);
    if (result != VK_ERROR_DEVICE_LOST) check(result, "vkQueueSubmit");
  } catch (...) {
    const std::lock_guard lock(mutex_);
    give_back(work);
    throw;
  }
  if (result == VK_SUCCESS) return true;
  const std::lock_guard lock(mutex_);
  give_back(work);
  lose("vkQueueSubmit");
  return false;
}

void Timeline::give_back(const Submissions::Work& work) {
  if (work.commands != VK_NULL_HANDLE) commands_.give_back(work.commands);
  if (timestamps_) timestamps_->give_back(work.timestamp);
}

VkResult Timeline::submit_to_device(const Submission& submission) {
  std::vector<VkSemaphore> semaphores;
  std::vector<uint64_t> values;
  for (const Awaited& other : submission.awaited) {
    semaphores.push_back(other.signal->handle());
    values.push_back(other.number);
  }
  const std::vector<VkPipelineStageFlags> stages(semaphores.size(), stages_of(engine_));
  const VkSemaphore passing = signal_->handle();
  auto timeline = typed<VkTimelineSemaphoreSubmitInfo>(VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
  timeline.waitSemaphoreValueCount = static_cast<uint32_t>(values.size());
  timeline.pWaitSemaphoreValues = values.data();
  timeline.signalSemaphoreValueCount = 1;
  timeline.pSignalSemaphoreValues = &submission.number;
  auto info = typed<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
  info.pNext = &timeline;
  info.waitSemaphoreCount = static_cast<uint32_t>(semaphores.size());
  info.pWaitSemaphores = semaphores.data();
  info.pWaitDstStageMask = stages.data();
  info.commandBufferCount = 1;
  info.pCommandBuffers = &submission.work.commands;
  info.signalSemaphoreCount = 1;
  info.pSignalSemaphores = &passing;
  return context_->submit(engine_, info);
}

Timestamp Timeline::take_timestamp() {
  const std::lock_guard lock(mutex_);
  return timestamps_ && sdk::is_tracing() ? timestamps_->take() : Timestamp{};
}

VkResult Timeline::wait_for_semaphore(uint64_t number, int64_t timeout_ns) const {
  const VkSemaphore semaphore = signal_->handle();
  auto info = typed<VkSemaphoreWaitInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO);
  info.semaphoreCount = 1;
  info.pSemaphores = &semaphore;
  info.pValues = &number;
  const uint64_t timeout = timeout_ns < 0 ? UINT64_MAX : static_cast<uint64_t>(timeout_ns);
  return context_->api().WaitSemaphores(context_->device(), &info, timeout);
}

void Timeline::pass(uint64_t number, int64_t timeout_ns) {
  bool was_lost = false;
  {
    const std::lock_guard lock(mutex_);
    notice_loss();
    was_lost = loss_ != nullptr;
    if (number == 0 || (!was_lost && number <= retired_)) return;
  }
  const VkResult result = was_lost ? VK_ERROR_DEVICE_LOST : wait_for_semaphore(number, timeout_ns);
  if (result == VK_TIMEOUT)
    throw sdk::Error(FE_TIMEOUT, "vulkan: the queue was still working after " + std::to_string(timeout_ns) + " ns");
  if (result != VK_ERROR_DEVICE_LOST) {
    check(result, "vkWaitSemaphores");
  } else {
    // A lost device may continue work that it has begun, for a while.
    const int64_t most = timeout_ns < 0 ? longest_wait_for_idle_ns : std::min(timeout_ns, longest_wait_for_idle_ns);
    static_cast<void>(wait_for_semaphore(number, most));
    const std::lock_guard lock(mutex_);
    if (!was_lost) lose("vkWaitSemaphores");
  }
  retire();
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
    timestamp = span.time;
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

void Timeline::lose(const char* call) {
  const sdk::Error error(FE_DEVICE_LOST, "vulkan: the device " + context_->physical().description.name + " was lost (" +
                                             call + " came back with VK_ERROR_DEVICE_LOST)");
  context_->lose(error);
  notice_loss();
  open_->error = error;
}

void Timeline::lose_on_purpose(const sdk::Error& error) {
  std::list<Submission> over;
  const std::lock_guard lock(mutex_);
  context_->lose_when_idle(error);
  retire(over);  // before the loss is noticed, because this work was done
}

// All work of a lost device counts as passed: it will not touch memory any more.
uint64_t Timeline::passed() {
  if (loss_) return UINT64_MAX;
  uint64_t number = 0;
  const VkResult result = context_->api().GetSemaphoreCounterValue(context_->device(), signal_->handle(), &number);
  if (result == VK_SUCCESS) return number;
  if (result != VK_ERROR_DEVICE_LOST) check(result, "vkGetSemaphoreCounterValue");
  lose("vkGetSemaphoreCounterValue");
  return UINT64_MAX;
}

void Timeline::finish(Submission& submission, Submissions::Time& time) {
  const auto& [all, which] = submission.work.timestamp;
  time = loss_ || all == nullptr ? std::nullopt : all->read(which);
  give_back(submission.work);
  if (submission.after && !loss_) submission.after();
}

}  // namespace ferrule::vulkan
