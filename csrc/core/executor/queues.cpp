#include "core/executor/queues.h"

#include "core/error.h"
#include "core/executor/executable.h"

namespace ferrule {

DeviceQueue::DeviceQueue(Device& device) : device_(device) {
  const fe_backend& table = device.table();
  if (table.queue_create && table.queue_destroy) device.check(table.queue_create(device.open(), &queue_));
}

DeviceQueue::~DeviceQueue() {
  if (queue_ && !device_.belongs_to_parent()) device_.table().queue_destroy(queue_);
}

fe_error* DeviceQueue::drain() noexcept {
  const fe_backend& table = device_.table();
  if (!queue_ || !table.event_record || !table.event_wait || !table.event_release) return nullptr;
  fe_module_event* event = nullptr;
  if (fe_error* const error = table.event_record(queue_, &event)) return error;
  fe_error* const error = table.event_wait(event, -1);
  table.event_release(event);
  return error;
}

void DeviceQueue::finish(fe_error* error) {
  fe_error* const late = drain();
  if (error)
    release(late);
  else
    error = late;
  // The caller is told now, and nobody else has work in the queue: what comes next starts anew, unless the device is
  // lost.
  if (error && code_of(error) != FE_DEVICE_LOST && queue_ && device_.table().queue_reset)
    release(device_.table().queue_reset(queue_));
  device_.check(error);
}

void DeviceQueue::reset() {
  const std::scoped_lock lock(mutex_);
  if (!queue_ || !device_.table().queue_reset) return;
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
