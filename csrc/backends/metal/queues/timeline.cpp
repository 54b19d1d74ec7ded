#include "queues/timeline.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace ferrule::metal {
namespace {

Owned made(Id object, const std::string& device, const char* what) {
  if (object == nullptr) throw sdk::Error(FE_OUT_OF_MEMORY, device + " makes no " + what);
  return Owned::taken(object);
}

std::shared_ptr<Submissions::Signal> signal_of(std::shared_ptr<OpenDevice> device) {
  const AutoreleasePool pool;
  Owned event = made(send<Id>(device->device(), Message::new_shared_event), device->name(), "event");
  return std::make_shared<Submissions::Signal>(Submissions::Signal{std::move(device), std::move(event)});
}

CommandBufferStatus status_of(const Submissions::Work& work) {
  return static_cast<CommandBufferStatus>(send<Unsigned>(work.commands.get(), Message::status));
}
bool is_over(const Submissions::Work& work) { return status_of(work) >= CommandBufferStatus::completed; }

}  // namespace

bool Submissions::Touched::intersects(const Touched& other) const {
  return std::any_of(memory.begin(), memory.end(), [&](const MemoryPointer& one) {
    return std::any_of(other.memory.begin(), other.memory.end(),
                       [&](const MemoryPointer& another) { return overlap(*one, *another); });
  });
}

Timeline::Timeline(std::shared_ptr<OpenDevice> device)
    : sdk::Timeline<Submissions>(signal_of(device)), device_(std::move(device)) {
  const AutoreleasePool pool;
  queue_ = made(send<Id>(device_->device(), Message::new_command_queue), device_->name(), "command queue");
}

bool Timeline::start(Submission& submission, const Submissions::Encode& encode) {
  const AutoreleasePool pool;
  Owned& commands = submission.work.commands;
  commands = Owned::shared(send<Id>(queue_.get(), Message::command_buffer));
  if (!commands) throw sdk::Error(FE_OUT_OF_MEMORY, device_->name() + " makes no command buffer");
  for (const Awaited& awaited : submission.awaited)
    send<void>(commands.get(), Message::encode_wait_for_event, awaited.signal->event.get(), awaited.number);
  encode(commands.get());
  if (!failure_) send<void>(commands.get(), Message::encode_signal_event, signal_->event.get(), submission.number);
  submission.work.failure = std::exchange(failure_, std::nullopt);
  const std::lock_guard lock(signaling_);
  send<void>(commands.get(), Message::commit);
  committed_ = submission.number;
  return true;
}

// Work that is done is retired before a loss is noticed.
std::shared_ptr<const sdk::Error> Timeline::loss() const {
  const auto found = device_->loss();
  if (!found || (!pending_.empty() && is_over(pending_.front().work))) return nullptr;
  return std::make_shared<const sdk::Error>(*found);
}

std::shared_ptr<const EventSpan> Timeline::record() {
  retire();  // so that a loss is noticed
  return sdk::Timeline<Submissions>::record();
}

bool Timeline::has_passed(uint64_t number) {
  const AutoreleasePool pool;
  if (sdk::Timeline<Submissions>::has_passed(number)) return true;
  std::vector<Awaited> awaited;
  {
    const std::lock_guard lock(mutex_);
    if (!pending_.empty()) awaited = pending_.front().awaited;
  }
  // If that work failed, its queue signals the event now.
  for (const Awaited& one : awaited)
    if (const auto timeline = one.timeline.lock()) timeline->has_passed(one.number);
  return false;
}

void Timeline::pass(uint64_t number, int64_t timeout_ns) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::nanoseconds(std::max<int64_t>(timeout_ns, 0));
  while (!has_passed(number)) {
    if (timeout_ns < 0) {
      wait_for_next(number);
      continue;
    }
    // Metal's own wait has no limit before macOS 12.
    const auto left = deadline - std::chrono::steady_clock::now();
    if (left <= left.zero()) throw sdk::Error(FE_TIMEOUT, device_->name() + " has not finished in time");
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(left, std::chrono::microseconds(50)));
  }
}

void Timeline::wait_for_next(uint64_t number) {
  const AutoreleasePool pool;
  Owned commands;
  std::vector<Awaited> awaited;
  {
    const std::lock_guard lock(mutex_);
    for (const Submission& submission : pending_) {
      if (submission.number > number || (commands && !submission.awaited.empty())) break;
      if (!commands) awaited = submission.awaited;
      commands = submission.work.commands.another();
    }
  }
  for (const Awaited& one : awaited)
    if (const auto timeline = one.timeline.lock()) timeline->pass(one.number, -1);
  send<void>(commands.get(), Message::wait_until_completed);
}

uint64_t Timeline::time(const EventSpan& span) {
  if (!has_passed(span.end)) throw sdk::Error(FE_TIMEOUT, "metal: the queue has not passed this event");
  const std::lock_guard lock(mutex_);
  return std::max(span.host_ns, span.time);
}

void Timeline::reset() {
  const AutoreleasePool pool;
  pass(last(), -1);
  std::vector<Owned> unfinished;
  {
    const std::lock_guard lock(mutex_);
    for (const Submission& submission : pending_) unfinished.push_back(submission.work.commands.another());
  }
  for (const Owned& commands : unfinished) send<void>(commands.get(), Message::wait_until_completed);
  retire();
  sdk::Timeline<Submissions>::reset();
}

uint64_t Timeline::passed() {
  const AutoreleasePool pool;
  uint64_t number = 0;
  for (const Submission& submission : pending_) {
    if (!is_over(submission.work)) break;
    number = submission.number;
  }
  return number;
}

void Timeline::finish(Submission& submission, uint64_t& time) {
  const AutoreleasePool pool;
  const auto& [commands, failure] = submission.work;
  if (failure || status_of(submission.work) == CommandBufferStatus::error) {
    time = std::max(time, sdk::monotonic_ns());
    {
      // Metal need not signal events of a command buffer that failed. If other work follows, it signals a later value.
      const std::lock_guard lock(signaling_);
      if (submission.number == committed_)
        send<void>(signal_->event.get(), Message::set_signaled_value, submission.number);
    }
    const sdk::Error error = failure ? *failure : error_of(device_->name(), send<Id>(commands.get(), Message::error));
    if (error.code() == FE_DEVICE_LOST) device_->lose(error);
    throw error;
  }
  const uint64_t begin = host_ns_of(send<double>(commands.get(), Message::gpu_start_time));
  time = std::max(time, host_ns_of(send<double>(commands.get(), Message::gpu_end_time)));
  if (submission.after) submission.after(begin, time);
}

}  // namespace ferrule::metal
