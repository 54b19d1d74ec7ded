#include "core/copy/transfer.h"

#include "core/copy/gather.h"
#include "core/error.h"
#include "core/memory/host_memory.h"
#include "core/memory/queue.h"
#include "core/registry/device.h"
#include "core/trace/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

namespace ferrule {
namespace {

uint64_t byte_offset(const StridedArray& of) { return static_cast<uint64_t>(bytes_of(of.type.dtype, of.data.offset)); }
WorkName copy_of(const StridedArray& what) {
  return {"a copy of " + to_string(what.type), static_cast<uint64_t>(byte_count(what.type))};
}

// Consecutive bytes of a storage.
struct Bytes {
  std::shared_ptr<Storage> storage;
  uint64_t offset;  // in the buffer
  uint64_t size;
  WorkName what;

  Bytes(const StridedArray& of, uint64_t bytes)
      : storage(of.data.storage), offset(buffer_offset(of)), size(bytes), what(copy_of(of)) {}
  Device& device() const { return *storage->device(); }
  Bytes part(uint64_t first, uint64_t bytes) const {
    Bytes some = *this;
    some.offset += first;
    some.size = some.what.copied_bytes = bytes;
    return some;
  }
};

// Calls function(first, size) for pieces that can be staged.
template <class Function>
void for_pieces(uint64_t size, const Function& function) {
  for (uint64_t first = 0; first < size; first += HostMemory::piece_size)
    function(first, std::min(HostMemory::piece_size, size - first));
}

std::shared_ptr<std::byte> stage(Device& device, fe_queue_kind kind, uint64_t size) {
  return device.attached<HostMemory>().stage(size, device.attached<DeviceQueues>().of(kind));
}

// Whether copies between the device and this memory need no staging.
bool copies_directly(Device& device, const void* memory, uint64_t size) {
  if (!device.table().queue_create) return true;
  HostMemory& host = device.attached<HostMemory>();
  return !host.is_of_device() || host.has(memory, size);
}

// Submits a copy to host memory that the caller, `owner` or the storage `to` keeps. `rest`: see Work.
WorkPointer give_download(const Bytes& from, void* memory, const std::shared_ptr<const void>& owner,
                          const std::shared_ptr<Storage>& to = nullptr, const WorkPointer& before = nullptr,
                          std::function<void()> rest = {}) {
  Device& device = from.device();
  Submission work(device, FE_QUEUE_DOWNLOAD, from.what);
  work.reads(from.storage);
  if (to) work.writes(to);
  work.completes(before);
  work.keep(owner);
  work.then(std::move(rest));
  return work.give({}, [&](fe_module_queue* queue) {
    return device.table().copy_to_host(device.open(), queue, memory, from.storage->buffer(), from.offset, from.size);
  });
}

// Submits a copy from host memory that the caller, `owner` or the storage `source` keeps. `before` wrote the bytes
// before.
WorkPointer give_upload(const Bytes& to, const void* memory, const std::shared_ptr<const void>& owner,
                        const std::shared_ptr<Storage>& source = nullptr, const WorkPointer& before = nullptr) {
  Device& device = to.device();
  Submission work(device, FE_QUEUE_UPLOAD, to.what);
  if (source) work.reads(source);
  work.writes(to.storage);
  work.completes(before);
  work.keep(owner);
  return work.give({}, [&](fe_module_queue* queue) {
    return device.table().copy_from_host(device.open(), queue, to.storage->buffer(), to.offset, memory, to.size);
  });
}

void finish(const WorkPointer& work) {
  if (!work) return;
  work->wait();
  work->check();
}

// Calls function(type, first) for consecutive parts that can be staged: as many rows of the outermost axis as fit, or
// parts of one row. Rows of blocks are not divided.
template <class Function>
void for_parts(const TensorType& type, const Dims& byte_strides, const std::byte* first, const Function& function) {
  int axis = 0;
  while (axis < type.shape.rank() && type.shape[axis] == 1) ++axis;
  const auto bytes = static_cast<uint64_t>(byte_count(type));
  const bool is_whole = axis == type.shape.rank() || (axis + 1 == type.shape.rank() && block_elements(type.dtype) > 1);
  if (bytes <= HostMemory::piece_size || is_whole) return function(type, first);
  const uint64_t row = bytes / static_cast<uint64_t>(type.shape[axis]);
  const auto rows = static_cast<int64_t>(std::max<uint64_t>(HostMemory::piece_size / row, 1));
  TensorType part = type;
  for (int64_t i = 0; i < type.shape[axis]; i += rows) {
    part.shape[axis] = std::min(rows, type.shape[axis] - i);
    for_parts(part, byte_strides, first + i * byte_strides[axis], function);
  }
}

// Copies to the caller's memory. The host empties one piece while the device writes another.
void download(const Bytes& from, std::byte* to) {
  if (copies_directly(from.device(), to, from.size)) return finish(give_download(from, to, nullptr));
  struct Piece {
    std::shared_ptr<std::byte> memory;
    uint64_t first, size;
    WorkPointer work;
  };
  std::deque<Piece> under_way;
  const auto take_oldest = [&] {
    const Piece piece = std::move(under_way.front());
    under_way.pop_front();
    finish(piece.work);
    std::memcpy(to + piece.first, piece.memory.get(), piece.size);
  };
  for_pieces(from.size, [&](uint64_t first, uint64_t size) {
    if (under_way.size() == 2) take_oldest();
    const std::shared_ptr<std::byte> memory = stage(from.device(), FE_QUEUE_DOWNLOAD, size);
    under_way.push_back({memory, first, size, give_download(from.part(first, size), memory.get(), memory)});
  });
  while (!under_way.empty()) take_oldest();
}

// Copies to a storage in host memory without waiting. A staged piece is copied to its place by the first thread that
// finds its download over.
void give_download_to(const std::shared_ptr<Storage>& to, const Bytes& from) {
  auto* const memory = static_cast<std::byte*>(to->host_pointer());
  if (copies_directly(from.device(), memory, from.size)) {
    give_download(from, memory, nullptr, to);
    return;
  }
  WorkPointer work;
  for_pieces(from.size, [&](uint64_t first, uint64_t size) {
    const std::shared_ptr<std::byte> piece = stage(from.device(), FE_QUEUE_DOWNLOAD, size);
    const auto take = [to, target = memory + first, piece, size] { std::memcpy(target, piece.get(), size); };
    work = give_download(from.part(first, size), piece.get(), piece, to, work, take);
  });
}

// Copies from the caller's memory, which is read before this returns. The host fills one piece while the device reads
// another.
void upload(const Bytes& to, const std::byte* from) {
  Device& device = to.device();
  const bool is_device_memory = device.table().queue_create && device.attached<HostMemory>().has(from, to.size);
  if (is_device_memory || !device.table().queue_create) return finish(give_upload(to, from, nullptr));
  WorkPointer work;
  for_pieces(to.size, [&](uint64_t first, uint64_t size) {
    const std::shared_ptr<std::byte> memory = stage(device, FE_QUEUE_UPLOAD, size);
    std::memcpy(memory.get(), from + first, size);
    work = give_upload(to.part(first, size), memory.get(), memory, nullptr, work);
  });
}

// Copies on one device; false if the module cannot.
bool copy_on_device(const StridedArray& from, const StridedArray& to, uint64_t size) {
  Device& device = *to.data.storage->device();
  Submission work(device, FE_QUEUE_COMPUTE, copy_of(from));
  work.reads(from.data.storage);
  work.writes(to.data.storage);
  return work.is_given([&](fe_module_queue* queue) {
    return device.table().copy(device.open(), queue, to.data.storage->buffer(), buffer_offset(to),
                               from.data.storage->buffer(), buffer_offset(from), size);
  });
}

bool copy_from_peer(const StridedArray& from, const StridedArray& to, uint64_t size) {
  Device& device = *to.data.storage->device();
  Device& source = *from.data.storage->device();
  const fe_backend& table = device.table();
  if (device.backend() != source.backend() || !table.copy_peer) return false;
  Submission work(device, FE_QUEUE_UPLOAD, copy_of(from));
  work.reads(from.data.storage);
  work.writes(to.data.storage);
  return work.is_given([&](fe_module_queue* queue) {
    return table.copy_peer(device.open(), queue, to.data.storage->buffer(), buffer_offset(to), source.open(),
                           from.data.storage->buffer(), buffer_offset(from), size);
  });
}

// Copies from a storage in host memory, which is kept until it was read.
void upload_storage(const StridedArray& from, const Bytes& to) {
  const std::shared_ptr<Storage>& source = from.data.storage;
  const auto* const memory = static_cast<const std::byte*>(source->host_pointer()) + byte_offset(from);
  if (copies_directly(to.device(), memory, to.size)) {
    give_upload(to, memory, nullptr, source);
  } else {
    source->finish_write();
    upload(to, memory);
  }
}

// Copies through staged host memory.
void copy_staged(const StridedArray& from, const Bytes& to) {
  if (is_contiguous(from.type.shape, from.data.strides) && !from.data.storage->host_pointer()) {
    const Bytes all(from, to.size);
    WorkPointer work;
    return for_pieces(to.size, [&](uint64_t first, uint64_t size) {
      const std::shared_ptr<std::byte> memory = stage(to.device(), FE_QUEUE_UPLOAD, size);
      download(all.part(first, size), memory.get());
      work = give_upload(to.part(first, size), memory.get(), memory, nullptr, work);
    });
  }
  const std::shared_ptr<std::byte> memory = stage(to.device(), FE_QUEUE_UPLOAD, to.size);
  read_to_host(from, memory.get(), to.size);
  give_upload(to, memory.get(), memory);
}

// `to` is new and contiguous.
void copy_into(const StridedArray& to, const StridedArray& from, uint64_t size) {
  const Storage& source = *from.data.storage;
  Device& device = *to.data.storage->device();
  const bool has_queues = device.table().queue_create != nullptr;
  const bool is_whole = is_contiguous(from.type.shape, from.data.strides);
  if (is_whole && source.device().get() == &device && has_queues && copy_on_device(from, to, size)) return;
  if (to.data.storage->host_pointer()) {
    const bool is_far = source.device()->table().queue_create && !source.host_pointer();
    if (is_whole && is_far && !has_queues) {  // its readers wait
      return give_download_to(to.data.storage, Bytes(from, size));
    }
    to.data.storage->finish_uses();
    return read_to_host(from, to.data.storage->host_pointer(), size);
  }
  if (is_whole && source.device().get() != &device && copy_from_peer(from, to, size)) return;
  if (is_whole && source.host_pointer() && !source.device()->table().queue_create)
    return upload_storage(from, Bytes(to, size));
  if (is_whole && source.device().get() == &device && copy_on_device(from, to, size)) return;
  copy_staged(from, Bytes(to, size));
}

// Reads strided elements of a storage that the host cannot access.
void read_strided(const StridedArray& from, std::byte* to, uint64_t size) {
  const DType dtype = from.type.dtype;
  const Reach reach = reach_of(from.type.shape, from.data.strides);
  const auto before = static_cast<std::size_t>(bytes_of(dtype, reach.before));
  const auto touched = static_cast<uint64_t>(bytes_of(dtype, reach.before + reach.after + 1));
  if (touched > 2 * size && touched > HostMemory::piece_size)
    if (const std::optional<StridedArray> dense = gather_on_device(from)) return download(Bytes(*dense, size), to);
  std::vector<std::byte> range(touched);
  StridedArray all = from;
  all.data.offset -= reach.before;
  download(Bytes(all, touched), range.data());
  gather(range.data() + before, from.type, byte_strides_of(dtype, from.data.strides), to);
}

}  // namespace

void read_to_host(const StridedArray& from, void* to, uint64_t size, const Cancel& cancel) {
  const auto bytes = static_cast<uint64_t>(byte_count(from.type));
  if (size != bytes)
    fail_argument("{} has {} bytes, but the memory to read it into has {}", to_string(from.type), bytes, size);
  if (bytes == 0) return;
  const Storage& storage = *from.data.storage;
  storage.device()->open();  // throws if the device is lost or the parent process's: its memory cannot be read then
  storage.finish_write(cancel);
  const bool is_whole = is_contiguous(from.type.shape, from.data.strides);
  auto* const bytes_to = static_cast<std::byte*>(to);
  if (!storage.host_pointer())
    return is_whole ? download(Bytes(from, bytes), bytes_to) : read_strided(from, bytes_to, bytes);
  const auto* const first = static_cast<const std::byte*>(storage.host_pointer()) + byte_offset(from);
  TraceSpan span(FE_TRACE_TRANSFER, "copy on host");
  span.describe([&](TraceLabel& label) {
    label.detail = to_string(from.type);
    label.device = storage.device()->name();
    label.bytes_read = label.bytes_written = bytes;
  });
  if (is_whole)
    std::memcpy(to, first, bytes);
  else
    gather(first, from.type, byte_strides_of(from.type.dtype, from.data.strides), bytes_to);
}

void write_from_host(const StridedArray& to, const void* from, uint64_t size) {
  if (size > 0) upload(Bytes(to, size), static_cast<const std::byte*>(from));
}

void write_gathered(const StridedArray& to, const std::byte* first, const Dims& byte_strides,
                    const std::function<void(std::span<std::byte>)>& change) {
  const Bytes all(to, static_cast<uint64_t>(byte_count(to.type)));
  uint64_t done = 0;
  WorkPointer work;
  for_parts(to.type, byte_strides, first, [&](const TensorType& part, const std::byte* from) {
    const auto bytes = static_cast<uint64_t>(byte_count(part));
    const std::shared_ptr<std::byte> memory = stage(all.device(), FE_QUEUE_UPLOAD, bytes);
    gather(from, part, byte_strides, memory.get());
    if (change) change({memory.get(), bytes});
    work = give_upload(all.part(done, bytes), memory.get(), memory, nullptr, work);
    done += bytes;
  });
}

StridedArray copy_to(const StridedArray& from, const std::shared_ptr<Device>& device) {
  const auto bytes = static_cast<uint64_t>(byte_count(from.type));
  StridedArray to{from.type, {nullptr, 0, contiguous_strides(from.type.shape)}};
  if (bytes == 0) return to;
  Device& source = *from.data.storage->device();
  source.open();
  std::optional<StridedArray> dense;
  if (!is_contiguous(from.type.shape, from.data.strides)) dense = gather_on_device(from);
  if (dense && &source == device.get()) {
    to = *std::move(dense);
  } else {
    // Allocates for the queue that copies: another queue would have to wait for the last users of the memory.
    const fe_queue_kind kind = &source == device.get() ? FE_QUEUE_COMPUTE : FE_QUEUE_UPLOAD;
    const auto allocate = [&] { to.data.storage = Storage::allocate(device, from.type, queue_of(*device, kind)); };
    try {
      allocate();
    } catch (const Error& error) {
      if (error.code() != FE_OUT_OF_MEMORY || &source == device.get() || !source.table().queue_create) throw;
      synchronize(source);  // its pending copies keep memory of this device
      allocate();
    }
    copy_into(to, dense ? *dense : from, bytes);
  }
  if (may_change(from) && from.data.storage->has_uses()) from.data.storage->finish_uses();
  return to;
}

StridedArray copy_without_repeats(const StridedArray& from) {
  if (byte_count(from.type) == 0) return {from.type, {nullptr, 0, contiguous_strides(from.type.shape)}};
  StridedArray once = from;
  for (int axis = 0; axis < from.type.shape.rank(); ++axis)
    if (from.data.strides[axis] == 0) once.type.shape[axis] = 1;
  StridedArray copy = copy_to(once, from.data.storage->device());
  for (int axis = 0; axis < from.type.shape.rank(); ++axis)
    if (from.data.strides[axis] == 0) copy.data.strides[axis] = 0;
  copy.type = from.type;
  return copy;
}

}  // namespace ferrule
