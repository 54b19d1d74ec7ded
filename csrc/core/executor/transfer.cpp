// Copies of views: between devices, and into host memory.
#include "core/error.h"
#include "core/executor/executable.h"
#include "core/executor/queues.h"

#include <cstring>
#include <utility>
#include <vector>

namespace ferrule {
namespace {

// The lowest and one past the highest element that a view of at least one element touches.
std::pair<int64_t, int64_t> touched(const TypedView& view) {
  int64_t low = view.view.offset, high = view.view.offset;
  for (int axis = 0; axis < view.type.shape.rank(); ++axis) {
    const int64_t reach = (view.type.shape[axis] - 1) * view.view.strides[axis];
    (reach < 0 ? low : high) += reach;
  }
  return {low, high + 1};
}

// Elements of a strided array one after the other, as runs of bytes along the last axis.
void gather(const std::byte* first, const Shape& shape, const Strides& strides, std::size_t item, std::byte* to) {
  const int rank = shape.rank();
  if (rank == 0) {
    std::memcpy(to, first, item);
    return;
  }
  const int64_t row = shape[rank - 1], step = strides[rank - 1];
  Dims index;
  index.resize(rank);
  for (;;) {
    int64_t at = 0;
    for (int axis = 0; axis + 1 < rank; ++axis) at += index[axis] * strides[axis];
    const std::byte* from = first + at * static_cast<int64_t>(item);
    if (step == 1) {
      std::memcpy(to, from, static_cast<std::size_t>(row) * item);
      to += static_cast<std::size_t>(row) * item;
    } else {
      for (int64_t i = 0; i < row; ++i, to += item) std::memcpy(to, from + i * step * static_cast<int64_t>(item), item);
    }
    int axis = rank - 2;
    while (axis >= 0 && ++index[axis] == shape[axis]) index[axis--] = 0;
    if (axis < 0) return;
  }
}

// `owner` keeps the host's memory alive; memory without one is the caller's.
void read_bytes(const std::shared_ptr<Storage>& storage, uint64_t offset, void* to, uint64_t size,
                const std::shared_ptr<const void>& owner = nullptr) {
  Device& device = *storage->device();
  QueueUse queue(device);
  queue.finish(device.table().copy_to_host(device.open(), queue.handle(), to, storage->buffer(), offset, size),
               [&](const auto& keep) {
                 keep(storage);
                 keep(owner);
               });
}

void write_bytes(const std::shared_ptr<Storage>& storage, uint64_t offset, const void* from, uint64_t size,
                 const std::shared_ptr<const void>& owner = nullptr) {
  Device& device = *storage->device();
  QueueUse queue(device);
  queue.finish(device.table().copy_from_host(device.open(), queue.handle(), storage->buffer(), offset, from, size),
               [&](const auto& keep) {
                 keep(storage);
                 keep(owner);
               });
}

uint64_t byte_offset(const TypedView& of) { return static_cast<uint64_t>(of.view.offset) * size_of(of.type.dtype); }

}  // namespace

void read_to_host(const TypedView& from, void* to, uint64_t size) {
  const auto bytes = static_cast<uint64_t>(byte_count(from.type));
  if (size != bytes)
    fail_argument("{} has {} bytes, but the memory to read it into has {}", to_string(from.type), bytes, size);
  if (bytes == 0) return;
  const std::size_t item = size_of(from.type.dtype);
  const Storage& storage = *from.view.storage;
  storage.device()->open();  // throws when it is lost or another process's: not even its memory can be looked at then
  if (is_contiguous(from.type.shape, from.view.strides)) {
    const uint64_t offset = static_cast<uint64_t>(from.view.offset) * item;
    if (storage.host_pointer())
      std::memcpy(to, static_cast<const std::byte*>(storage.host_pointer()) + offset, bytes);
    else
      read_bytes(from.view.storage, offset, to, bytes);
    return;
  }
  if (storage.host_pointer()) {
    const auto* base = static_cast<const std::byte*>(storage.host_pointer());
    gather(base + from.view.offset * static_cast<int64_t>(item), from.type.shape, from.view.strides, item,
           static_cast<std::byte*>(to));
    return;
  }
  const auto [low, high] = touched(from);
  const auto range = std::make_shared<std::vector<std::byte>>(static_cast<std::size_t>(high - low) * item);
  read_bytes(from.view.storage, static_cast<uint64_t>(low) * item, range->data(), range->size(), range);
  gather(range->data() + (from.view.offset - low) * static_cast<int64_t>(item), from.type.shape, from.view.strides,
         item, static_cast<std::byte*>(to));
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
                                      offset, bytes),
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
