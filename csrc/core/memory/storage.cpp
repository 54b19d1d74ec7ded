#include "core/memory/storage.h"

#include "core/error.h"
#include "core/memory/allocator.h"
#include "core/registry/device.h"

#include <atomic>
#include <utility>
#include <vector>

namespace ferrule {
namespace {

std::atomic<uint64_t> next_generation{1};

}  // namespace

struct Storage::Private {
  Live live;
  Allocator* allocator = nullptr;
};

Storage::Storage(Private&& parts)
    : parts_(std::make_unique<Private>(std::move(parts))), generation_(next_generation++) {
  device_ = parts_->live.device();
}

std::shared_ptr<Storage> Storage::allocate(const std::shared_ptr<Device>& device, uint64_t size, Origin origin) {
  if (size == 0) fail(FE_INTERNAL, "a storage has at least one byte");
  const char* const what = origin == Origin::prepared ? "prepared constant" : "memory";
  return allocate(device->live([size, what] { return fmt::format("{} of {} bytes", what, size); }), size, origin);
}

std::shared_ptr<Storage> Storage::allocate(const std::shared_ptr<Device>& device, const TensorType& type) {
  const auto size = static_cast<uint64_t>(byte_count(type));
  if (size == 0) fail(FE_INTERNAL, "a storage has at least one byte");
  return allocate(device->live([type] { return "array " + to_string(type); }), size, Origin::allocated);
}

std::shared_ptr<Storage> Storage::allocate(Live live, uint64_t size, Origin origin) {
  const std::shared_ptr<Device> device = live.device();
  auto& allocator = device->attached<Allocator>();
  std::shared_ptr<Storage> storage(new Storage({std::move(live), &allocator}));
  storage->buffer_ = allocator.take(size, origin == Origin::prepared);
  storage->size_ = size;
  storage->origin_ = origin;
  const fe_backend& table = device->table();
  if (table.buffer_host_pointer) storage->host_pointer_ = table.buffer_host_pointer(storage->buffer_);
  return storage;
}

std::shared_ptr<Storage> Storage::borrow(const std::shared_ptr<Device>& device, void* pointer, uint64_t size,
                                         fe_access access, std::shared_ptr<void> owner,
                                         const std::optional<TensorType>& array) {
  const fe_backend& table = device->table();
  Live live = device->live([size, array] {
    return array ? "array " + to_string(*array) : fmt::format("borrowed memory of {} bytes", size);
  });
  if (!table.buffer_borrow || device->properties().borrow_alignment == 0)
    fail(FE_UNSUPPORTED, "{} does not borrow host memory", device->name());
  auto& allocator = device->attached<Allocator>();
  std::shared_ptr<Storage> storage(new Storage({std::move(live), &allocator}));
  storage->origin_ = Origin::borrowed;
  device->check(table.buffer_borrow(device->open(), pointer, size, access, &storage->buffer_));
  storage->size_ = size;
  storage->access_ = access;
  storage->owner_ = std::move(owner);
  allocator.count_borrowed(static_cast<int64_t>(size));
  if (table.buffer_host_pointer) storage->host_pointer_ = table.buffer_host_pointer(storage->buffer_);
  return storage;
}

std::shared_ptr<Storage> Storage::part(const std::shared_ptr<Storage>& whole, uint64_t offset, uint64_t size) {
  if (offset > whole->size_ || size > whole->size_ - offset)
    fail(FE_INTERNAL, "a part of {} bytes from byte {} of a storage of {}", size, offset, whole->size_);
  Live live = whole->device_->live([size] { return fmt::format("{} bytes of borrowed memory", size); });
  std::shared_ptr<Storage> part(new Storage({std::move(live), whole->parts_->allocator}));
  part->buffer_ = whole->buffer_;
  part->buffer_offset_ = whole->buffer_offset_ + offset;
  part->size_ = size;
  part->generation_ = whole->generation_;
  part->origin_ = whole->origin_;
  part->access_ = whole->access_;
  if (whole->host_pointer_) part->host_pointer_ = static_cast<std::byte*>(whole->host_pointer_) + offset;
  part->whole_ = whole;
  return part;
}

std::shared_ptr<Storage> Storage::moved(const std::shared_ptr<Storage>& from) {
  Live live = from->device_->live([size = from->size_] { return fmt::format("memory of {} bytes", size); });
  std::shared_ptr<Storage> to(new Storage({std::move(live), from->parts_->allocator}));
  to->size_ = from->size_;
  move_back(from, *to);
  return to;
}

void Storage::move_back(const std::shared_ptr<Storage>& from, Storage& to) {
  to.buffer_ = std::exchange(from->buffer_, nullptr);
  to.host_pointer_ = std::exchange(from->host_pointer_, nullptr);
}

Storage::~Storage() {
  if (!buffer_ || whole_) return;
  if (origin_ == Origin::borrowed) {
    if (!device_->belongs_to_parent()) device_->table().buffer_free(buffer_);
    parts_->allocator->count_borrowed(-static_cast<int64_t>(size_));
  } else {
    parts_->allocator->give_back(buffer_, size_, origin_ == Origin::prepared);
  }
}

}  // namespace ferrule
