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

CommandBufferStatus status_of(const Owned& commands) {
  return static_cast<CommandBufferStatus>(send<Unsigned>(commands.get(), Message::status));
}
bool is_over(const Owned& commands) { return status_of(commands) >= CommandBufferStatus::completed; }

}  // namespace

Timeline::Timeline(std::shared_ptr<OpenDevice> device) : device_(std::move(device)) {
  const AutoreleasePool pool;
  queue_ = made(send<Id>(device_->device(), Message::new_command_queue), device_->name(), "command queue");
  event_ = std::make_shared<const Owned>(
      made(send<Id>(device_->device(), Message::new_shared_event), device_->name(), "event"));
}

uint64_t Timeline::submit(std::vector<MemoryPointer> touched, const Encode& encode, std::shared_ptr<void> keep_alive,
                          After after) {
  const AutoreleasePool pool;
  retire();
  if (is_lost()) return 0;
  Owned commands = Owned::shared(send<Id>(queue_.get(), Message::command_buffer));
  if (!commands) throw sdk::Error(FE_OUT_OF_MEMORY, device_->name() + " makes no command buffer");
  for (const Awaited& awaited : awaited_)
    send<void>(commands.get(), Message::encode_wait_for_event, awaited.event->get(), awaited.value);
  encode(commands.get());
  std::list<Submission> submission;
  const std::lock_guard lock(mutex_);
  const uint64_t number = last_ + 1;
  if (!failure_) send<void>(commands.get(), Message::encode_signal_event, event_->get(), number);
  submission.push_back({number, std::move(commands), std::move(touched), std::move(keep_alive), std::move(after), open_,
                        awaited_, std::exchange(failure_, std::nullopt)});
  send<void>(submission.front().commands.get(), Message::commit);
  pending_.splice(pending_.end(), submission);
  awaited_.clear();
  return last_ = number;
}

void Timeline::note_host_work() {
  const std::lock_guard lock(mutex_);
  open_->host_ns = sdk::monotonic_ns();
}

void Timeline::wait_for(Timeline& other, const EventSpan& span) {
  if (&other == this) return;  // a queue is in order with itself
  if (device_ != other.device_)
    throw sdk::Error(FE_UNSUPPORTED,
                     "metal: a queue of " + device_->name() + " cannot wait for an event of another device or opening");
  if (is_lost() || span.end == 0) return;
  for (Awaited& awaited : awaited_)
    if (awaited.event == other.event_) return void(awaited.value = std::max(awaited.value, span.end));
  awaited_.push_back({other.weak_from_this(), other.event_, span.end});
}

void Timeline::submit_waits() {
  if (!awaited_.empty()) submit({}, [](Id) {}, {}, {});
}

std::shared_ptr<const EventSpan> Timeline::record() {
  submit_waits();
  const auto loss = device_->loss();
  const std::lock_guard lock(mutex_);
  if (loss && !open_->error) open_->error = *loss;
  open_->end = last_;
  if (last_ == retired_) open_->device_ns = retired_ns_;
  if (open_->host_ns == 0 && last_ == retired_) open_->host_ns = sdk::monotonic_ns();
  closed_.push_back(open_);
  return std::exchange(open_, std::make_shared<EventSpan>());
}

uint64_t Timeline::last_use(const Memory& memory) {
  submit_waits();
  retire();
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(pending_.rbegin(), pending_.rend(), [&](const Submission& submission) {
    return !submission.awaited.empty() || std::any_of(submission.touched.begin(), submission.touched.end(),
                                                      [&](const MemoryPointer& one) { return overlap(*one, memory); });
  });
  return found != pending_.rend() ? found->number : 0;
}

bool Timeline::has_passed(uint64_t number) {
  if (retire()) return true;
  std::vector<Awaited> awaited;
  {
    const std::lock_guard lock(mutex_);
    if (number <= retired_) return true;
    awaited = pending_.front().awaited;
  }
  // If that work failed, its queue signals the event now.
  for (const Awaited& one : awaited)
    if (const auto timeline = one.timeline.lock()) timeline->has_passed(one.value);
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
      commands = submission.commands.another();
    }
  }
  for (const Awaited& one : awaited)
    if (const auto timeline = one.timeline.lock()) timeline->pass(one.value, -1);
  send<void>(commands.get(), Message::wait_until_completed);
}

void Timeline::wait(const EventSpan& span, int64_t timeout_ns) {
  pass(span.end, timeout_ns);
  const std::lock_guard lock(mutex_);
  if (span.error) throw sdk::Error(*span.error);
}

uint64_t Timeline::time(const EventSpan& span) {
  if (!has_passed(span.end)) throw sdk::Error(FE_TIMEOUT, "metal: the queue has not passed this event");
  const std::lock_guard lock(mutex_);
  return std::max(span.host_ns, span.device_ns);
}

void Timeline::reset() {
  const AutoreleasePool pool;
  pass(last_, -1);
  std::list<Submission> over;
  // Waits for the work of a lost device, too, which may still access memory.
  const std::lock_guard lock(mutex_);
  for (const Submission& submission : pending_) send<void>(submission.commands.get(), Message::wait_until_completed);
  retire(over);
  if (const auto loss = device_->loss()) throw sdk::Error(*loss);
  open_ = std::make_shared<EventSpan>();
}

bool Timeline::retire() {
  const AutoreleasePool pool;
  std::list<Submission> over;
  const std::lock_guard lock(mutex_);
  return retire(over);
}

bool Timeline::retire(std::list<Submission>& over) {
  while (!pending_.empty() && is_over(pending_.front().commands)) {
    const Submission& submission = pending_.front();
    finish(submission);
    retired_ = submission.number;
    // Metal need not signal events of a command buffer that failed. If other work follows, it signals a later value.
    if (has_failed(submission) && retired_ == last_) send<void>(event_->get(), Message::set_signaled_value, retired_);
    for (const auto& span : closed_)
      if (span->end == retired_) span->device_ns = retired_ns_;
    over.splice(over.end(), pending_, pending_.begin());
  }
  const auto loss = device_->loss();
  for (const auto& span : closed_)
    if (loss && span->end > retired_ && !span->error) span->error = *loss;
  closed_.remove_if([&](const auto& span) { return span->end <= retired_; });
  return loss.has_value();
}

bool Timeline::has_failed(const Submission& submission) {
  return submission.failure || status_of(submission.commands) == CommandBufferStatus::error;
}

void Timeline::finish(const Submission& submission) {
  const Id commands = submission.commands.get();
  std::optional<sdk::Error>& found = submission.span->error;
  if (has_failed(submission)) {
    const sdk::Error error =
        submission.failure ? *submission.failure : error_of(device_->name(), send<Id>(commands, Message::error));
    if (error.code() == FE_DEVICE_LOST) device_->lose(error);
    if (!found) found = error;
    return;
  }
  const uint64_t begin = host_ns_of(send<double>(commands, Message::gpu_start_time));
  retired_ns_ = std::max(retired_ns_, host_ns_of(send<double>(commands, Message::gpu_end_time)));
  if (!submission.after) return;
  try {
    submission.after(begin, retired_ns_);
  } catch (const sdk::Error& error) {
    if (!found) found = error;
  } catch (const std::exception& error) {
    if (!found) found = sdk::Error(FE_INTERNAL, error.what());
  }
}

}  // namespace ferrule::metal
