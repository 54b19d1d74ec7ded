#include "timeline.h"

namespace ferrule::vulkan {
namespace {

// Longer than any watchdog of a driver lets work run.
constexpr int64_t longest_farewell_ns = 30'000'000'000;

}  // namespace

Timeline::Lane::Lane(const Context& of, Engine on) : context(of), engine(on), commands(of, on) {
  auto kind = typed<VkSemaphoreTypeCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
  kind.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  auto info = typed<VkSemaphoreCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO);
  info.pNext = &kind;
  check(context.api().CreateSemaphore(context.device(), &info, nullptr, &semaphore), "vkCreateSemaphore");
}

Timeline::Lane::~Lane() { context.api().DestroySemaphore(context.device(), semaphore, nullptr); }

uint64_t Timeline::Lane::last_use(const Touched& touched) const {
  const auto found = std::find_if(pending.rbegin(), pending.rend(),
                                  [&](const Submission& submission) { return submission.touched.meets(touched); });
  return found != pending.rend() ? found->value : 0;
}

Timeline::Timeline(std::shared_ptr<Context> context) : context_(std::move(context)) {
  for (size_t i = 0; i < context_->queue_families().size(); ++i)
    lanes_.push_back(std::make_unique<Lane>(*context_, static_cast<Engine>(i)));
}

Timeline::~Timeline() = default;

Timeline::Moment Timeline::submit(Engine engine, const Touched& touched, const Commands::Record& record,
                                  std::shared_ptr<void> keep_alive, std::function<void()> after) {
  if (!is_poisoned()) retire();
  if (is_poisoned()) return now();
  Lane& lane = lane_of(engine);
  const VkCommandBuffer commands = lane.commands.recorded(record);
  const uint64_t value = last_ + 1;
  VkResult result = VK_SUCCESS;
  std::list<Submission> submission;
  try {
    submission.push_back({value, touched, commands, std::move(keep_alive), std::move(after), era_});
    result = submit(lane, submission.front());
  } catch (...) {
    lane.commands.give_back(commands);
    throw;
  }
  const std::lock_guard lock(mutex_);
  Moment done{.era = era_};
  if (result == VK_SUCCESS) {
    lane.pending.splice(lane.pending.end(), submission);
    last_ = lane.last = done.values[lane.index()] = value;
    return done;
  }
  lane.commands.give_back(commands);
  if (result != VK_ERROR_DEVICE_LOST) check(result, "vkQueueSubmit");
  lose("vkQueueSubmit");
  done.was_poisoned = true;
  return done;
}

VkResult Timeline::submit(const Lane& lane, const Submission& submission) {
  std::array<VkSemaphore, most_engines> semaphores{};
  std::array<uint64_t, most_engines> values{};
  std::array<VkPipelineStageFlags, most_engines> stages{};
  uint32_t count = 0;
  for (const auto& other : lanes_) {
    if (other.get() == &lane) continue;
    const std::lock_guard lock(mutex_);
    // Also for what is known to be done: only a semaphore makes it visible here.
    values[count] = std::max(other->last_use(submission.touched), other->retired);
    if (values[count] == 0) continue;
    semaphores[count] = other->semaphore;
    stages[count++] = stages_of(lane.engine);
  }
  auto timeline = typed<VkTimelineSemaphoreSubmitInfo>(VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
  timeline.waitSemaphoreValueCount = count;
  timeline.pWaitSemaphoreValues = values.data();
  timeline.signalSemaphoreValueCount = 1;
  timeline.pSignalSemaphoreValues = &submission.value;
  auto info = typed<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
  info.pNext = &timeline;
  info.waitSemaphoreCount = count;
  info.pWaitSemaphores = semaphores.data();
  info.pWaitDstStageMask = stages.data();
  info.commandBufferCount = 1;
  info.pCommandBuffers = &submission.commands;
  info.signalSemaphoreCount = 1;
  info.pSignalSemaphores = &lane.semaphore;
  return context_->submit(lane.engine, info);
}

Timeline::Moment Timeline::now() const {
  const std::lock_guard lock(mutex_);
  Moment moment{.era = era_, .was_poisoned = era_->error.has_value()};
  for (const auto& lane : lanes_) moment.values[lane->index()] = lane->last;
  return moment;
}

Timeline::Moment Timeline::last_use(const Touched& touched) const {
  const std::lock_guard lock(mutex_);
  Moment moment{.era = era_, .was_poisoned = era_->error.has_value()};
  for (const auto& lane : lanes_) moment.values[lane->index()] = lane->last_use(touched);
  return moment;
}

bool Timeline::has_passed(const Moment& moment) {
  const std::lock_guard lock(mutex_);
  if (moment.era->is_lost) return true;
  return std::all_of(lanes_.begin(), lanes_.end(),
                     [&](const auto& lane) { return passed_value(*lane) >= moment.values[lane->index()]; });
}

VkResult Timeline::wait_for_semaphores(const Moment& moment, int64_t timeout_ns) const {
  std::array<VkSemaphore, most_engines> semaphores{};
  for (const auto& lane : lanes_) semaphores[lane->index()] = lane->semaphore;
  auto info = typed<VkSemaphoreWaitInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO);
  info.semaphoreCount = static_cast<uint32_t>(lanes_.size());
  info.pSemaphores = semaphores.data();
  info.pValues = moment.values.data();
  const uint64_t timeout = timeout_ns < 0 ? UINT64_MAX : static_cast<uint64_t>(timeout_ns);
  return context_->api().WaitSemaphores(context_->device(), &info, timeout);
}

void Timeline::pass(const Moment& moment, int64_t timeout_ns) {
  bool is_lost = false;
  {
    const std::lock_guard lock(mutex_);
    is_lost = moment.era->is_lost;
  }
  if (is_lost) {
    // What a device has begun it may go on with for a while, though it says that it is lost.
    const int64_t most = timeout_ns < 0 ? longest_farewell_ns : std::min(timeout_ns, longest_farewell_ns);
    static_cast<void>(wait_for_semaphores(moment, most));
  } else {
    const VkResult result = wait_for_semaphores(moment, timeout_ns);
    if (result == VK_TIMEOUT)
      throw sdk::Error(FE_TIMEOUT, "vulkan: the queue was still working after " + std::to_string(timeout_ns) + " ns");
    if (result == VK_ERROR_DEVICE_LOST) {
      const std::lock_guard lock(mutex_);
      lose("vkWaitSemaphores");
    } else {
      check(result, "vkWaitSemaphores");
    }
  }
  retire();
}

bool Timeline::ends() {
  const VkResult result = wait_for_semaphores(now(), longest_farewell_ns);
  if (result != VK_SUCCESS && result != VK_ERROR_DEVICE_LOST) return false;
  retire();
  return true;
}

void Timeline::wait(const Moment& moment, int64_t timeout_ns) {
  pass(moment, timeout_ns);
  const std::lock_guard lock(mutex_);
  const Era& era = *moment.era;
  if (moment.was_poisoned || (era.error && era.from <= moment.end())) throw sdk::Error(*era.error);
}

void Timeline::retire() {
  std::list<Submission> done;  // what they kept alive goes without the lock
  const std::lock_guard lock(mutex_);
  for (const auto& lane : lanes_) {
    const uint64_t passed = passed_value(*lane);
    while (!lane->pending.empty() && lane->pending.front().value <= passed) {
      const Submission& submission = lane->pending.front();
      run_after(submission);
      lane->commands.give_back(submission.commands);
      lane->retired = submission.value;
      done.splice(done.end(), lane->pending, lane->pending.begin());
    }
  }
}

void Timeline::run_after(const Submission& submission) {
  Era& era = *submission.era;
  if (!submission.after || era.error) return;
  try {
    submission.after();
    return;
  } catch (const sdk::Error& error) {
    era.error = error;
  } catch (const std::exception& error) {
    era.error = sdk::Error(FE_INTERNAL, error.what());
  }
  era.from = submission.value;
}

// Of a lost device everything has passed: nothing will touch memory any more.
uint64_t Timeline::passed_value(const Lane& lane) {
  if (era_->is_lost) return UINT64_MAX;
  uint64_t value = 0;
  const VkResult result = context_->api().GetSemaphoreCounterValue(context_->device(), lane.semaphore, &value);
  if (result == VK_SUCCESS) return value;
  if (result != VK_ERROR_DEVICE_LOST) check(result, "vkGetSemaphoreCounterValue");
  lose("vkGetSemaphoreCounterValue");
  return UINT64_MAX;
}

void Timeline::lose(const char* call) {
  era_->is_lost = true;
  era_->from = 0;
  era_->error = sdk::Error(FE_DEVICE_LOST, "vulkan: the device " + context_->physical().description.name +
                                               " was lost (" + call + " came back with VK_ERROR_DEVICE_LOST)");
}

void Timeline::poison(const sdk::Error& error) {
  const std::lock_guard lock(mutex_);
  if (era_->error) return;
  era_->error = error;
  era_->from = last_ + 1;
}

bool Timeline::is_poisoned() const {
  const std::lock_guard lock(mutex_);
  return era_->error.has_value();
}

void Timeline::reset() {
  pass(now(), -1);
  const std::lock_guard lock(mutex_);
  era_ = std::make_shared<Era>();
}

}  // namespace ferrule::vulkan
