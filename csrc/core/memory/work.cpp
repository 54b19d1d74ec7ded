#include "core/memory/work.h"

#include "core/memory/queue.h"

#include <mutex>
#include <utility>

namespace ferrule {
namespace {

// Interval at which a wait checks whether the caller has cancelled it.
constexpr int64_t patience_ns = 20'000'000;

}  // namespace

QueueEvent::~QueueEvent() {
  const Device& device = *use_.device();
  if (handle && !device.belongs_to_parent()) device.table().event_release(handle);
}

std::optional<uint64_t> QueueEvent::time_ns() const noexcept {
  const fe_backend& table = use_.device()->table();
  uint64_t ns = 0;
  if (use_.device()->belongs_to_parent() || !table.event_time || !table.event_done(handle)) return std::nullopt;
  if (ErrorPointer(table.event_time(handle, &ns))) return std::nullopt;
  return ns;
}

Work::Work(DeviceQueue& queue, std::string what, Inputs inputs, Kept kept, TracedWorkPointer traced,
           std::function<void()> rest)
    : queue_(queue),
      device_(queue.device().shared_from_this()),
      what_(std::move(what)),
      traced_(std::move(traced)),
      has_rest_(rest != nullptr),
      event_(std::make_shared<QueueEvent>(*device_)),
      kept_(std::move(kept)) {
  if (rest) rest_ = std::make_shared<const std::function<void()>>(std::move(rest));
  if (!inputs.empty()) inputs_ = std::make_shared<const Inputs>(std::move(inputs));
}

std::shared_ptr<QueueEvent> Work::event() const {
  const std::scoped_lock lock(mutex_);
  return event_;
}

bool Work::is_over() noexcept {
  if (is_over_.load(std::memory_order_acquire)) return true;
  const std::shared_ptr<QueueEvent> event = this->event();
  if (!event) return true;
  if (!event->is_over()) return false;
  conclude(*event);
  return true;
}

void Work::wait(const Cancel& cancel) {
  if (is_over_.load(std::memory_order_acquire)) return;
  TraceSpan span(FE_TRACE_WAIT, "wait");
  span.describe([&](TraceLabel& label) {
    label.detail = what_;
    label.device = device_->name();
  });
  for (;;) {
    const std::shared_ptr<QueueEvent> event = this->event();
    if (!event) return;
    ErrorPointer error = event->wait(patience_ns);
    const bool is_late = code_of(error.get()) == FE_TIMEOUT;
    // The event can be over although the wait timed out.
    if (!error || event->is_over()) return conclude(*event, is_late ? nullptr : std::move(error));
    if (!is_late) return queue_.drain_for(*this, std::move(error));
    cancel.check();
  }
}

void Work::conclude(const QueueEvent& event, ErrorPointer error) noexcept {
  if (traced_) traced_->finish(event.time_ns());
  if (!error) error = event.wait(-1);
  device_->note(error.get());
  // A forked child cannot know what the parent's devices write after the fork, or where.
  const bool is_ours = !device_->belongs_to_parent();
  if (!is_ours && !error)
    error = ErrorPointer(make_error(FE_UNSUPPORTED, "it was not finished when this process was forked"));
  std::shared_ptr<const Inputs> inputs;
  std::shared_ptr<const std::function<void()>> rest;  // a reference, because another thread may end the work
  {
    const std::scoped_lock lock(mutex_);
    if (!event_) return;  // another thread ended it first
    inputs = inputs_;
    rest = rest_;
  }
  std::shared_ptr<const Work> failed_input;
  for (std::size_t i = 0; !error && !failed_input && inputs && i < inputs->size(); ++i) {
    Work& input = *(*inputs)[i];  // over, because this work waited for it
    if (input.is_over() && input.has_failed()) failed_input = input.culprit_.load()->shared_from_this();
  }
  if (rest && !error && !failed_input) std::call_once(rest_is_done_, *rest);
  end(std::move(error), std::move(failed_input), false);
}

void Work::abandon(const ErrorPointer& reason) noexcept {
  end(ErrorPointer(make_error(code_of(reason.get()), message_of(reason.get()))), nullptr, true);
}

void Work::end(ErrorPointer error, std::shared_ptr<const Work> failed_input, bool is_abandoned) noexcept {
  std::shared_ptr<QueueEvent> ended;
  std::shared_ptr<const Inputs> inputs;
  std::shared_ptr<const std::function<void()>> rest;
  Kept kept;
  {
    const std::scoped_lock lock(mutex_);
    if (!event_) return;  // another thread ended it first
    error_ = std::move(error);
    failed_input_ = std::move(failed_input);
    culprit_.store(error_ ? this : failed_input_.get(), std::memory_order_release);
    ended = std::move(event_);
    inputs.swap(inputs_);
    rest.swap(rest_);
    kept.swap(kept_);
    is_abandoned_.store(is_abandoned, std::memory_order_release);
    is_over_.store(true, std::memory_order_release);
  }
  if (!is_abandoned) return;
  leak_deliberately(std::move(ended));  // keeps the device open as well
  for (std::shared_ptr<const void>& owned : kept) leak_deliberately(std::move(owned));
}

void Work::check() const {
  const Work* const culprit = culprit_.load(std::memory_order_acquire);
  if (!culprit) return;
  const fe_error* const error = culprit->error_.get();
  // Messages about arguments name the op already.
  if (code_of(error) == FE_INVALID_ARGUMENT) fail(FE_INVALID_ARGUMENT, "{}", message_of(error));
  fail(code_of(error), "{} (in {} on {})", message_of(error), culprit->what_, culprit->device_->name());
}

}  // namespace ferrule
