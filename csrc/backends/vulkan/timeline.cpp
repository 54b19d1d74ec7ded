#include "timeline.h"

namespace ferrule::vulkan {

Timeline::Timeline(std::shared_ptr<Context> context) : context_(std::move(context)) {
  for (size_t i = 0; i < context_->queue_families().size(); ++i)
    lanes_.push_back(std::make_unique<Lane>(*context_, static_cast<Engine>(i)));
}

Moment Timeline::submit(Engine engine, const Touched& touched, const Commands::Record& record,
                        std::shared_ptr<void> keep_alive, std::function<void()> after) {
  retire();
  if (is_lost()) return {};
  Lane& lane = lane_of(engine);
  const VkCommandBuffer commands = lane.commands.recorded(record);
  const uint64_t value = last_ + 1;
  VkResult result = VK_SUCCESS;
  std::list<Submission> submission;
  try {
    submission.push_back(
        {value, touched, commands, std::move(keep_alive), std::move(after), open_, /*awaited=*/lane.awaited});
    result = submit(lane, submission.front());
  } catch (...) {
    lane.commands.give_back(commands);
    throw;
  }
  const std::lock_guard lock(mutex_);
  if (result != VK_SUCCESS) {
    lane.commands.give_back(commands);
    if (result != VK_ERROR_DEVICE_LOST) check(result, "vkQueueSubmit");
    lose("vkQueueSubmit");
    return {};
  }
  lane.pending.splice(lane.pending.end(), submission);
  last_ = lane.last = value;
  lane.awaited.clear();
  has_new_wait_ = false;
  Moment done;
  done.values[lane.index()] = value;
  return done;
}

VkResult Timeline::submit(const Lane& lane, const Submission& submission) {
  std::vector<VkSemaphore> semaphores;
  std::vector<uint64_t> values;
  const auto wait_for = [&](const Semaphore& semaphore, uint64_t value) {
    semaphores.push_back(semaphore.handle());
    values.push_back(value);
  };
  for (const auto& other : lanes_) {
    if (other.get() == &lane) continue;
    const std::lock_guard lock(mutex_);
    // Also for what is known to be done: only a semaphore makes it visible here.
    const uint64_t value = std::max(other->last_use(submission.touched), other->retired);
    if (value != 0) wait_for(*other->semaphore, value);
  }
  for (const Awaited& other : submission.awaited) wait_for(*other.semaphore, other.value);
  const std::vector<VkPipelineStageFlags> stages(semaphores.size(), stages_of(lane.engine));
  const VkSemaphore passing = lane.semaphore->handle();
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
  return context_->submit(lane.engine, info);
}

void Timeline::wait_for(const Timeline& other, const Span& span) {
  if (&other == this) return;  // which is in order by itself
  if (context_ != other.context_)
    throw sdk::Error(FE_UNSUPPORTED, "vulkan: a queue of " + context_->physical().description.name +
                                         " cannot wait for an event of another device or opening");
  if (is_lost()) return;
  for (const auto& from : other.lanes_) {
    const uint64_t value = span.end.values[from->index()];
    if (value == 0) continue;
    has_new_wait_ = true;
    // Also for what has passed: only a semaphore makes it visible to an engine.
    for (const auto& lane : lanes_) lane->await({from->semaphore, value});
  }
}

void Timeline::submit_waits() {
  if (has_new_wait_) submit(Engine::computing, {}, [](VkCommandBuffer) {}, {}, {});
}

std::shared_ptr<const Span> Timeline::record() {
  submit_waits();
  auto next = std::make_shared<Span>();
  std::list<std::shared_ptr<Span>> closing = {open_};
  const Moment end = now();
  const std::lock_guard lock(mutex_);
  notice_loss();
  if (loss_) open_->error = *loss_;
  open_->end = end;
  closed_.splice(closed_.end(), closing);
  drop_done_spans();
  return std::exchange(open_, std::move(next));
}

Moment Timeline::last_use(const Touched& touched) {
  submit_waits();
  const std::lock_guard lock(mutex_);
  Moment moment;
  for (const auto& lane : lanes_) moment.values[lane->index()] = lane->last_use_or_wait(touched);
  return moment;
}

Moment Timeline::now() const {
  const std::lock_guard lock(mutex_);
  Moment moment;
  for (const auto& lane : lanes_) moment.values[lane->index()] = lane->last;
  return moment;
}

Moment Timeline::unretired(Moment moment) const {
  for (const auto& lane : lanes_)
    if (moment.values[lane->index()] <= lane->retired) moment.values[lane->index()] = 0;
  return moment;
}

bool Timeline::has_passed(const Moment& moment) {
  const std::lock_guard lock(mutex_);
  notice_loss();
  const Moment left = unretired(moment);
  return std::all_of(lanes_.begin(), lanes_.end(), [&](const auto& lane) {
    const uint64_t value = left.values[lane->index()];
    return value == 0 || passed_value(*lane) >= value;
  });
}

VkResult Timeline::wait_for_semaphores(const Moment& moment, int64_t timeout_ns) const {
  std::array<VkSemaphore, most_engines> semaphores{};
  for (const auto& lane : lanes_) semaphores[lane->index()] = lane->semaphore->handle();
  auto info = typed<VkSemaphoreWaitInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO);
  info.semaphoreCount = static_cast<uint32_t>(lanes_.size());
  info.pSemaphores = semaphores.data();
  info.pValues = moment.values.data();
  const uint64_t timeout = timeout_ns < 0 ? UINT64_MAX : static_cast<uint64_t>(timeout_ns);
  return context_->api().WaitSemaphores(context_->device(), &info, timeout);
}

void Timeline::pass(Moment moment, int64_t timeout_ns) {
  bool was_lost = false;
  {
    const std::lock_guard lock(mutex_);
    notice_loss();
    was_lost = loss_ != nullptr;
    if (!was_lost) moment = unretired(moment);
  }
  if (moment.last() == 0) return;
  const VkResult result = was_lost ? VK_ERROR_DEVICE_LOST : wait_for_semaphores(moment, timeout_ns);
  if (result == VK_TIMEOUT)
    throw sdk::Error(FE_TIMEOUT, "vulkan: the queue was still working after " + std::to_string(timeout_ns) + " ns");
  if (result != VK_ERROR_DEVICE_LOST) {
    check(result, "vkWaitSemaphores");
  } else {
    // What a device has begun it may go on with for a while, though it says that it is lost.
    const int64_t most = timeout_ns < 0 ? longest_farewell_ns : std::min(timeout_ns, longest_farewell_ns);
    static_cast<void>(wait_for_semaphores(moment, most));
    const std::lock_guard lock(mutex_);
    if (!was_lost) lose("vkWaitSemaphores");
  }
  retire();
}

void Timeline::wait(const Span& span, int64_t timeout_ns) {
  pass(span.end, timeout_ns);
  const std::lock_guard lock(mutex_);
  if (span.error) throw sdk::Error(*span.error);
}

bool Timeline::ends() {
  const VkResult result = wait_for_semaphores(now(), longest_farewell_ns);
  if (result != VK_SUCCESS && result != VK_ERROR_DEVICE_LOST) return false;
  retire();
  return true;
}

void Timeline::retire() {
  std::list<Submission> over;  // what they kept alive goes without the lock
  const std::lock_guard lock(mutex_);
  retire(over);
}

void Timeline::retire(std::list<Submission>& over) {
  for (const auto& lane : lanes_) {
    if (lane->pending.empty()) continue;
    const uint64_t passed = passed_value(*lane);
    while (!lane->pending.empty() && lane->pending.front().value <= passed) {
      const Submission& submission = lane->pending.front();
      run_after(submission);
      lane->commands.give_back(submission.commands);
      lane->retired = submission.value;
      over.splice(over.end(), lane->pending, lane->pending.begin());
    }
  }
  drop_done_spans();
  notice_loss();
}

void Timeline::drop_done_spans() {
  uint64_t first_pending = last_ + 1;
  for (const auto& lane : lanes_)
    if (!lane->pending.empty()) first_pending = std::min(first_pending, lane->pending.front().value);
  while (!closed_.empty() && closed_.front()->end.last() < first_pending) closed_.pop_front();
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

// Of a lost device everything has passed: nothing will touch memory any more.
uint64_t Timeline::passed_value(const Lane& lane) {
  if (loss_) return UINT64_MAX;
  uint64_t value = 0;
  const VkResult result =
      context_->api().GetSemaphoreCounterValue(context_->device(), lane.semaphore->handle(), &value);
  if (result == VK_SUCCESS) return value;
  if (result != VK_ERROR_DEVICE_LOST) check(result, "vkGetSemaphoreCounterValue");
  lose("vkGetSemaphoreCounterValue");
  return UINT64_MAX;
}

}  // namespace ferrule::vulkan
