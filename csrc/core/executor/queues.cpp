#include "core/executor/queues.h"

#include "core/executor/executable.h"
#include "core/threads/immortal.h"
#include "core/threads/mutexes.h"

#include <fmt/format.h>

#include <new>
#include <vector>

namespace ferrule {
namespace {

struct Kept {
  BriefMutex mutex;
  std::vector<std::shared_ptr<const void>> owned;
};

bool is_loss(const ErrorPointer& error) { return code_of(error.get()) == FE_DEVICE_LOST; }

}  // namespace

void keep_for_good(std::shared_ptr<const void> owned) noexcept {
  if (!owned) return;
  Kept& kept = Immortal<Kept>::get();
  const std::scoped_lock lock(kept.mutex);
  try {
    kept.owned.push_back(owned);
  } catch (const std::bad_alloc&) {
    // No memory to remember it with: this reference to it is never given back.
    alignas(decltype(owned)) static std::byte place[sizeof owned];
    new (place) std::shared_ptr<const void>(std::move(owned));
  }
}

DeviceQueue::DeviceQueue(Device& device) : device_(device) {
  const fe_backend& table = device.table();
  if (table.queue_create) device.check(table.queue_create(device.open(), &queue_));
}

DeviceQueue::~DeviceQueue() {
  if (queue_ && !device_.belongs_to_parent()) device_.table().queue_destroy(queue_);
}

DeviceQueue::Drained DeviceQueue::drain() noexcept {
  if (!queue_) return {};
  const fe_backend& table = device_.table();
  fe_module_event* event = nullptr;
  ErrorPointer error(table.event_record(queue_, &event));
  if (!error) {
    error.reset(table.event_wait(event, -1));
    const bool is_over = !error || is_loss(error) || table.event_done(event) != 0;
    table.event_release(event);
    if (is_over) return {std::move(error), true};
  }
  if (is_loss(error)) return {std::move(error), true};
  // No event tells when the work is over, and what it uses must stay until then: a reset waits, too.
  const ErrorPointer unsure(table.queue_reset(queue_));
  return {std::move(error), !unsure || is_loss(unsure)};
}

void QueueUse::conclude(ErrorPointer given, DeviceQueue::Drained drained) {
  Device& device = queue_.device_;
  if (!drained.is_over)
    device.check(make_error(
        FE_DEVICE_LOST,
        fmt::format("{} counts as lost, since it cannot be told whether its work is over: {}; what that work uses is "
                    "never freed",
                    device.name(), message_of(drained.error.get()))));
  ErrorPointer error = std::move(given ? given : drained.error);
  // The caller is told now, and nobody else has work in the queue: what comes next starts anew, unless the device is
  // lost.
  if (error && !is_loss(error) && handle()) release(device.table().queue_reset(handle()));
  device.check(error.release());
}

void DeviceQueue::reset() {
  const std::scoped_lock lock(mutex_);
  if (!queue_) return;
  device_.check(device_.table().queue_reset(queue_));
  device_.forget_loss();
}

void reset_queue(Device& device) {
  device.while_open([&] {
    if (!device.is_lost()) device.open();  // throws in the child of a fork
    if (!device.belongs_to_parent()) device.attached<DeviceQueue>().reset();
  });
}

}  // namespace ferrule
