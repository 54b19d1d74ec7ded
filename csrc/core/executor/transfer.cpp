// Copies of views: between devices, and into host memory.
#include "core/error.h"
#include "core/executor/executable.h"
#include "core/executor/queues.h"

#include <cstring>
#include <utility>
#include <vector>

namespace ferrule {
namespace {

// `owner` keeps the host's memory alive; memory without one is the caller's.
void read_bytes(const std::shared_ptr<Storage>& storage, uint64_t offset, void* to, uint64_t size,
                const std::shared_ptr<const void>& owner = nullptr) {
  Device& device = *storage->device();
  QueueUse queue(device);
  queue.finish(device.table().copy_to_host(device.open(), queue.handle(), to, storage->buffer(),
                                           storage->buffer_offset() + offset, size),
               [&](const auto& keep) {
                 keep(storage);
                 keep(owner);
               });
}

void write_bytes(const std::shared_ptr<Storage>& storage, uint64_t offset, const void* from, uint64_t size,
                 const std::shared_ptr<const void>& owner = nullptr) {
  Device& device = *storage->device();
  QueueUse queue(device);
  queue.finish(device.table().copy_from_host(device.open(), queue.handle(), storage->buffer(),
                                             storage->buffer_offset() + offset, from, size),
               [&](const auto& keep) {
                 keep(storage);
                 keep(owner);
               });
}

uint64_t byte_offset(const TypedView& of) { return static_cast<uint64_t>(bytes_of(of.type.dtype, of.view.offset)); }

}  // namespace

void read_to_host(const TypedView& from, void* to, uint64_t size) {
  const auto bytes = static_cast<uint64_t>(byte_count(from.type));
  if (size != bytes)
    fail_argument("{} has {} bytes, but the memory to read it into has {}", to_string(from.type), bytes, size);
  if (bytes == 0) return;
  const Storage& storage = *from.view.storage;
  storage.device()->open();  // throws when it is lost or another process's: not even its memory can be looked at then
  if (is_contiguous(from.type.shape, from.view.strides)) {
    const uint64_t offset = byte_offset(from);
    if (storage.host_pointer())
      std::memcpy(to, static_cast<const std::byte*>(storage.host_pointer()) + offset, bytes);
    else
      read_bytes(from.view.storage, offset, to, bytes);
    return;
  }
  const DType dtype = from.type.dtype;
  const Strides byte_strides = byte_strides_of(dtype, from.view.strides);
  auto* const target = static_cast<std::byte*>(to);
  if (storage.host_pointer()) {
    gather(static_cast<const std::byte*>(storage.host_pointer()) + byte_offset(from), from.type, byte_strides, target);
    return;
  }
  const Reach reach = reach_of(from.type.shape, from.view.strides);
  const auto before = static_cast<std::size_t>(bytes_of(dtype, reach.before));
  const auto range = std::make_shared<std::vector<std::byte>>(
      static_cast<std::size_t>(bytes_of(dtype, reach.before + reach.after + 1)));
  read_bytes(from.view.storage, byte_offset(from) - before, range->data(), range->size(), range);
  gather(range->data() + before, from.type, byte_strides, target);
}

void write_from_host(const TypedView& to, const void* from, uint64_t size) {
  if (size > 0) write_bytes(to.view.storage, byte_offset(to), from, size);
}

TypedView copy_to(const TypedView& from, const std::shared_ptr<Device>& device) {
  const auto bytes = static_cast<uint64_t>(byte_count(from.type));
  TypedView to{from.type, {nullptr, 0, contiguous_strides(from.type.shape)}};
  if (bytes == 0) return to;
  to.view.storage = Storage::allocate(device, from.type);
  if (to.view.storage->host_pointer()) {
    read_to_host(from, to.view.storage->host_pointer(), bytes);
    return to;
  }
  const std::shared_ptr<Storage>& storage = from.view.storage;
  storage->device()->open();
  const uint64_t offset = byte_offset(from);
  const bool is_whole = is_contiguous(from.type.shape, from.view.strides);
  if (is_whole && storage->host_pointer()) {
    write_bytes(to.view.storage, 0, static_cast<const std::byte*>(storage->host_pointer()) + offset, bytes, storage);
  } else if (is_whole && storage->device() == device) {
    QueueUse queue(*device);
    queue.finish(device->table().copy(device->open(), queue.handle(), to.view.storage->buffer(), 0, storage->buffer(),
                                      storage->buffer_offset() + offset, bytes),
                 [&](const auto& keep) {
                   keep(storage);
                   keep(to.view.storage);
                 });
  } else {
    const auto staging = std::make_shared<std::vector<std::byte>>(bytes);
    if (is_whole)
      read_bytes(storage, offset, staging->data(), bytes, staging);
    else
      read_to_host(from, staging->data(), bytes);
    write_bytes(to.view.storage, 0, staging->data(), bytes, staging);
  }
  return to;
}

TypedView copy_without_repeats(const TypedView& from) {
  if (byte_count(from.type) == 0) return {from.type, {nullptr, 0, contiguous_strides(from.type.shape)}};
  TypedView once = from;
  for (int axis = 0; axis < from.type.shape.rank(); ++axis)
    if (from.view.strides[axis] == 0) once.type.shape[axis] = 1;
  TypedView copy = copy_to(once, from.view.storage->device());
  for (int axis = 0; axis < from.type.shape.rank(); ++axis)
    if (from.view.strides[axis] == 0) copy.view.strides[axis] = 0;
  copy.type = from.type;
  return copy;
}

bool may_change(const TypedView& view) { return view.view.storage && view.view.storage->is_lent_writable(); }

}  // namespace ferrule
