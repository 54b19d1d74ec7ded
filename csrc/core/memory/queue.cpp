#include "core/memory/queue.h"

#include "core/error.h"
#include "core/memory/allocator.h"
#include "core/memory/host_memory.h"
#include "core/memory/storage.h"
#include "core/sync/immortal.h"

#include <fmt/format.h>

#include <new>
#include <utility>

namespace ferrule {
namespace {

// Submissions of a queue that may be unfinished before the next one waits for the oldest.
constexpr std::size_t max_in_flight = 64;

struct LeakedObjects {
  BriefMutex mutex;
  std::vector<std::shared_ptr<const void>> owned;
};

bool is_loss(const ErrorPointer& error) { return code_of(error.get()) == FE_DEVICE_LOST; }

ErrorPointer loss_of(const Device& device, const ErrorPointer& reason) noexcept {
  return ErrorPointer(guarded([&] {
    fail(FE_DEVICE_LOST,
         "{} counts as lost, because it may still be working: {}; the memory of that work is never freed",
         device.name(), message_of(reason.get()));
  }));
}

}  // namespace

void leak_deliberately(std::shared_ptr<const void> owned) noexcept {
  if (!owned) return;
  LeakedObjects& leaked = Immortal<LeakedObjects>::get();
  const std::scoped_lock lock(leaked.mutex);
  try {
    leaked.owned.push_back(owned);
  } catch (const std::bad_alloc&) {
    // Without memory for the list, this reference is never released.
    alignas(decltype(owned)) static std::byte place[sizeof owned];
    new (place) std::shared_ptr<const void>(std::move(owned));
  }
}

DeviceQueue::DeviceQueue(Device& device, fe_queue_kind kind) : device_(device), kind_(kind) {
  const fe_backend& table = device.table();
  if (table.queue_create) device.check(table.queue_create(device.open(), kind, &handle_));
}

DeviceQueue::~DeviceQueue() {
  if (!handle_ || device_.belongs_to_parent()) return;
  reap();
  device_.table().queue_destroy(handle_);
}

WorkPointer DeviceQueue::oldest() const {
  const std::scoped_lock lock(mutex_);
  return work_.empty() ? nullptr : work_.front();
}

WorkPointer DeviceQueue::newest() const {
  const std::scoped_lock lock(mutex_);
  return work_.empty() ? nullptr : work_.back();
}

std::size_t DeviceQueue::in_flight() const {
  const std::scoped_lock lock(mutex_);
  return work_.size();
}

void DeviceQueue::reap() noexcept {
  std::shared_ptr<QueueEvent> last;  // keeps the device, and so this queue, alive
  for (WorkPointer work = oldest(); work; work = oldest()) {
    if (std::shared_ptr<QueueEvent> event = work->event()) last = std::move(event);
    if (!work->is_over()) return;
    std::list<WorkPointer> over;
    const std::scoped_lock lock(mutex_);
    if (!work_.empty() && work_.front() == work) over.splice(over.end(), work_, work_.begin());
  }
}

bool DeviceQueue::wait_for_oldest(const Cancel& cancel) {
  const WorkPointer work = oldest();
  if (work) work->wait(cancel);
  reap();
  return work != nullptr;
}

void DeviceQueue::synchronize(const Cancel& cancel) {
  // Work ends in the order of its submission.
  if (const WorkPointer work = newest()) work->wait(cancel);
  reap();
}

void DeviceQueue::reset() {
  if (!handle_) return;
  {
    const std::scoped_lock lock(giving_);
    device_.check(device_.table().queue_reset(handle_));
  }
  reap();
}

bool DeviceQueue::drain(ErrorPointer& reason) noexcept {
  const ErrorPointer unsure(device_.table().queue_reset(handle_));
  if (!unsure || is_loss(unsure)) return true;
  reason = loss_of(device_, reason);
  device_.note(reason.get());
  std::list<WorkPointer> all;
  {
    const std::scoped_lock lock(mutex_);
    all.swap(work_);
  }
  for (const WorkPointer& work : all) work->abandon(reason);
  return false;
}

void DeviceQueue::drain_for(Work& work, ErrorPointer reason) {
  const std::scoped_lock lock(giving_);
  const std::shared_ptr<QueueEvent> event = work.event();
  if (event && drain(reason)) work.conclude(*event, std::move(reason));
}

DeviceQueues::DeviceQueues(Device& device) {
  device.attached<Allocator>();  // destroyed after the queues, like the next
  device.attached<HostMemory>();
  const auto add = [&](fe_queue_kind kind) {
    owned_.push_back(std::make_unique<DeviceQueue>(device, kind));
    queues_[static_cast<std::size_t>(kind)] = owned_.back().get();
  };
  add(FE_QUEUE_COMPUTE);
  for (const fe_queue_kind kind : {FE_QUEUE_UPLOAD, FE_QUEUE_DOWNLOAD}) {
    queues_[static_cast<std::size_t>(kind)] = owned_.front().get();
    if (owned_.front()->handle() && (device.properties().queue_kinds >> kind & 1U) != 0) add(kind);
  }
}

void DeviceQueues::synchronize(const Cancel& cancel) {
  for (const auto& queue : owned_) queue->synchronize(cancel);
}

void DeviceQueues::reset() {
  for (const auto& queue : owned_) queue->reset();
}

void synchronize(Device& device, const Cancel& cancel) {
  if (!device.is_open() || !device.table().queue_create) return;
  const DeviceUse waiting = device.use("a wait for its queues");
  device.attached<DeviceQueues>().synchronize(cancel);
}

void reset_queue(Device& device) {
  device.while_open([&] {
    device.open();  // throws if the device is lost, and in the child of a fork
    device.attached<DeviceQueues>().reset();
  });
}

Submission::Submission(Device& device, fe_queue_kind kind, WorkName name)
    : queue_((device.open(), device.attached<DeviceQueues>().of(kind))), kind_(kind), name_(std::move(name)) {}

void Submission::reads(const std::shared_ptr<Storage>& storage) { read_.push_back(storage); }
void Submission::writes(const std::shared_ptr<Storage>& storage) { written_.push_back(storage); }

void Submission::prepare(const Cancel& cancel) {
  const fe_backend& table = queue_.device().table();
  for (const auto& storage : read_) {
    if (const WorkPointer write = storage->last_write()) {
      inputs_.push_back(write);
      awaited_.push_back(write);
    }
  }
  for (const auto& storage : written_) storage->add_uses(awaited_);
  const auto is_needless = [&](const WorkPointer& work) {
    if (work->is_over() || &work->queue() == &queue_) return true;
    // The queue of work that is over may be gone; its device is not.
    const bool is_on_device = queue_.handle() && table.queue_wait_event && !work->has_rest() &&
                              work->device_->backend() == queue_.device().backend();
    if (is_on_device) return false;
    work->wait(cancel);
    return true;
  };
  std::erase_if(awaited_, is_needless);
  for (const WorkPointer& write : inputs_)
    if (write->is_over()) write->check();
  if (!queue_.handle()) return;
  queue_.reap();
  while (queue_.in_flight() >= max_in_flight) queue_.wait_for_oldest(cancel);
  for (const auto& list : {read_, written_})
    for (const auto& storage : list) {
      if (storage->device().get() != &queue_.device() || storage->origin() != Storage::Origin::allocated) keep(storage);
    }
  if (!traced_ && is_tracing()) {
    TraceLabel label;
    label.name = copy_name();
    describe(label, name_.copied_bytes);
    traced_ = TracedWork::of_transfer(queue_.device().id(), std::move(label));
  }
  keep(traced_);
  work_.push_back(std::make_shared<Work>(queue_, std::move(name_.what), std::move(inputs_), std::move(kept_), traced_,
                                         std::move(rest_)));
}

const char* Submission::copy_name() const {
  return kind_ == FE_QUEUE_UPLOAD ? "copy to device" : kind_ == FE_QUEUE_DOWNLOAD ? "copy to host" : "copy on device";
}

void Submission::describe(TraceLabel& label, uint64_t bytes) const {
  label.detail = name_.what;
  label.device = queue_.device().name();
  label.bytes_read = label.bytes_written = bytes;
}

// Requires giving_ locked.
void Submission::wait_on_device() {
  for (const WorkPointer& work : awaited_) {
    const std::shared_ptr<QueueEvent> event = work->event();
    if (!event) continue;
    const ErrorPointer error(queue_.device().table().queue_wait_event(queue_.handle(), event->handle));
    if (error) work->wait();  // the host waits instead
  }
  if (!traced_) return;
  std::vector<uint64_t> after;
  for (const WorkPointer& work : awaited_)
    if (work->traced()) after.push_back(work->traced()->number());
  traced_->submit(queue_.kind(), std::move(after));
}

// Requires giving_ locked.
WorkPointer Submission::commit(fe_error* given) {
  ErrorPointer error(given);
  WorkPointer work = work_.front();
  const std::shared_ptr<QueueEvent> event = work->event();
  ErrorPointer unrecorded(queue_.device().table().event_record(queue_.handle(), &event->handle));
  if (unrecorded) event->handle = nullptr;
  if (unrecorded || error) {
    give_up(*work, std::move(error), std::move(unrecorded));
    return nullptr;
  }
  if (traced_) add_to_traces(traced_);
  {
    const std::scoped_lock lock(queue_.mutex_);
    queue_.work_.splice(queue_.work_.end(), work_);
  }
  try {
    for (const auto& storage : read_) storage->was_read(work);
    for (const auto& storage : written_) storage->was_written(work);
  } catch (...) {  // no memory to record the uses: wait now
    work->wait();
    throw;
  }
  return work;
}

// Waits for the submitted work, which may be running even though submitting it failed. Throws one of the errors.
void Submission::give_up(Work& work, ErrorPointer error, ErrorPointer unrecorded) {
  const std::shared_ptr<QueueEvent> event = work.event();
  if (!unrecorded) {
    ErrorPointer failed_wait = event->wait(-1);
    const bool is_over = !failed_wait || is_loss(failed_wait) || event->is_over();
    if (is_over) return queue_.device().check(error.release());
    unrecorded = std::move(failed_wait);
  }
  if (!error) error = std::move(unrecorded);
  if (!is_loss(error) && !queue_.drain(error)) {
    work.abandon(error);
    for (const auto& list : {read_, written_})
      for (const auto& storage : list) leak_deliberately(storage);
  }
  queue_.device().check(error.release());
}

}  // namespace ferrule
