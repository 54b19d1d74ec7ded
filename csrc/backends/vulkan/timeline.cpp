#include "timeline.h"

namespace ferrule::vulkan {
namespace {

constexpr VkPipelineStageFlags device_stages = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
constexpr VkAccessFlags device_reads = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT;
constexpr VkAccessFlags device_writes = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;

}  // namespace

void barrier(const DeviceFunctions& api, VkCommandBuffer commands, VkPipelineStageFlags from, VkAccessFlags written,
             VkPipelineStageFlags to, VkAccessFlags touched) {
  auto memory = typed<VkMemoryBarrier>(VK_STRUCTURE_TYPE_MEMORY_BARRIER);
  memory.srcAccessMask = written;
  memory.dstAccessMask = touched;
  api.CmdPipelineBarrier(commands, from, to, 0, 1, &memory, 0, nullptr, 0, nullptr);
}

void full_barrier(const DeviceFunctions& api, VkCommandBuffer commands) {
  barrier(api, commands, device_stages | VK_PIPELINE_STAGE_HOST_BIT, device_writes | VK_ACCESS_HOST_WRITE_BIT,
          device_stages, device_reads | device_writes);
}

Timeline::Timeline(std::shared_ptr<Context> context) : context_(std::move(context)) {
  auto kind = typed<VkSemaphoreTypeCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
  kind.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  auto info = typed<VkSemaphoreCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO);
  info.pNext = &kind;
  const DeviceFunctions& api = context_->api();
  check(api.CreateSemaphore(context_->device(), &info, nullptr, &semaphore_), "vkCreateSemaphore");
  auto pool = typed<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
  pool.flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT | VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
  pool.queueFamilyIndex = context_->queue_family();
  const VkResult result = api.CreateCommandPool(context_->device(), &pool, nullptr, &pool_);
  if (result != VK_SUCCESS) api.DestroySemaphore(context_->device(), semaphore_, nullptr);
  check(result, "vkCreateCommandPool");
}

Timeline::~Timeline() {
  context_->api().DestroyCommandPool(context_->device(), pool_, nullptr);
  context_->api().DestroySemaphore(context_->device(), semaphore_, nullptr);
}

VkCommandBuffer Timeline::take_commands() {
  {
    const std::lock_guard lock(mutex_);
    if (!free_commands_.empty()) {
      const VkCommandBuffer commands = free_commands_.back();
      free_commands_.pop_back();
      return commands;
    }
    free_commands_.reserve(free_commands_.size() + pending_.size() + 1);  // so that retiring needs no memory
  }
  auto info = typed<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
  info.commandPool = pool_;
  info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  info.commandBufferCount = 1;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  check(context_->api().AllocateCommandBuffers(context_->device(), &info, &commands), "vkAllocateCommandBuffers");
  return commands;
}

void Timeline::record_into(VkCommandBuffer commands, const Record& record) {
  const DeviceFunctions& api = context_->api();
  auto begin = typed<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
  begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  check(api.BeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");  // and so resets it
  full_barrier(api, commands);
  record(commands);
  // What the host reads when the value has passed: no semaphore makes that visible to it.
  barrier(api, commands, device_stages, device_writes, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
  check(api.EndCommandBuffer(commands), "vkEndCommandBuffer");
}

uint64_t Timeline::submit(const Record& record, std::shared_ptr<void> keep_alive, std::function<void()> after) {
  retire();
  if (is_poisoned()) return last_;
  const VkCommandBuffer commands = take_commands();
  std::list<Submission> submission;
  try {
    record_into(commands, record);
    submission.push_back({last_ + 1, commands, std::move(keep_alive), std::move(after), era_});
  } catch (...) {
    // Half recorded: they can only begin again when that is forgotten.
    context_->api().ResetCommandBuffer(commands, 0);
    const std::lock_guard lock(mutex_);
    free_commands_.push_back(commands);
    throw;
  }
  const uint64_t value = last_ + 1;
  auto timeline = typed<VkTimelineSemaphoreSubmitInfo>(VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
  timeline.signalSemaphoreValueCount = 1;
  timeline.pSignalSemaphoreValues = &value;
  auto info = typed<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
  info.pNext = &timeline;
  info.commandBufferCount = 1;
  info.pCommandBuffers = &commands;
  info.signalSemaphoreCount = 1;
  info.pSignalSemaphores = &semaphore_;
  const VkResult result = context_->submit(info);
  const std::lock_guard lock(mutex_);
  if (result == VK_SUCCESS) {
    pending_.splice(pending_.end(), submission);
    return last_ = value;
  }
  free_commands_.push_back(commands);
  if (result != VK_ERROR_DEVICE_LOST) check(result, "vkQueueSubmit");
  lose("vkQueueSubmit");
  return last_;
}

Timeline::Moment Timeline::now() const {
  const std::lock_guard lock(mutex_);
  return {last_, era_, era_->error.has_value()};
}

bool Timeline::has_passed(const Moment& moment) {
  const std::lock_guard lock(mutex_);
  return moment.era->is_lost || passed_value() >= moment.value;
}

void Timeline::wait(const Moment& moment, int64_t timeout_ns) {
  bool is_lost = false;
  {
    const std::lock_guard lock(mutex_);
    is_lost = moment.era->is_lost;
  }
  if (!is_lost) {
    auto info = typed<VkSemaphoreWaitInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO);
    info.semaphoreCount = 1;
    info.pSemaphores = &semaphore_;
    info.pValues = &moment.value;
    const uint64_t timeout = timeout_ns < 0 ? UINT64_MAX : static_cast<uint64_t>(timeout_ns);
    const VkResult result = context_->api().WaitSemaphores(context_->device(), &info, timeout);
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
  const std::lock_guard lock(mutex_);
  const Era& era = *moment.era;
  if (moment.was_poisoned || (era.error && era.from <= moment.value)) throw sdk::Error(*era.error);
}

void Timeline::retire() {
  std::list<Submission> done;  // what they kept alive goes without the lock
  const std::lock_guard lock(mutex_);
  const uint64_t passed = passed_value();
  while (!pending_.empty() && pending_.front().value <= passed) {
    const Submission& submission = pending_.front();
    run_after(submission);
    free_commands_.push_back(submission.commands);
    done.splice(done.end(), pending_, pending_.begin());
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
uint64_t Timeline::passed_value() {
  if (era_->is_lost) return UINT64_MAX;
  uint64_t value = 0;
  const VkResult result = context_->api().GetSemaphoreCounterValue(context_->device(), semaphore_, &value);
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
  const std::lock_guard lock(mutex_);
  era_ = std::make_shared<Era>();
}

}  // namespace ferrule::vulkan
