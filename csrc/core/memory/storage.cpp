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

class Storage::Held final : public Storage {
 public:
  Held(const std::shared_ptr<Device>& device, LivingThing what)
      : live(device->live(std::move(what))), allocator(device->attached<Allocator>()) {}
  ~Held() {
    if (!buffer_ || whole_) return;
    if (origin_ == Origin::borrowed) {
      if (!live.device()->belongs_to_parent()) live.device()->table().buffer_free(buffer_);
      allocator.count_borrowed(-static_cast<int64_t>(size_));
    } else {
      allocator.give_back(buffer_, size_, origin_ == Origin::prepared);
    }
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

  static std::shared_ptr<Storage> allocated(const std::shared_ptr<Device>& device, LivingThing what, uint64_t size,
                                            Origin origin) {
    if (size == 0) fail(FE_INTERNAL, "a storage has at least one byte");
    auto storage = std::make_shared<Held>(device, std::move(what));
    storage->buffer_ = storage->allocator.take(size, origin == Origin::prepared);
    storage->size_ = size;
    storage->origin_ = origin;
    const fe_backend& table = device->table();
    if (table.buffer_host_pointer) storage->host_pointer_ = table.buffer_host_pointer(storage->buffer_);
    return storage;
  }

  const Live live;
  Allocator& allocator;
};

Storage::Storage() : generation_(next_generation++) {}

const std::shared_ptr<Device>& Storage::device() const { return static_cast<const Held&>(*this).live.device(); }

std::shared_ptr<Storage> Storage::allocate(const std::shared_ptr<Device>& device, uint64_t size, Origin origin) {
  const char* const what = origin == Origin::prepared ? "prepared constant" : "memory";
  return Held::allocated(device, LivingBytes{what, size}, size, origin);
}

std::shared_ptr<Storage> Storage::allocate(const std::shared_ptr<Device>& device, const TensorType& type) {
  return Held::allocated(device, LivingArray{type}, static_cast<uint64_t>(byte_count(type)), Origin::allocated);
}

std::shared_ptr<Storage> Storage::borrow(const std::shared_ptr<Device>& device, void* pointer, uint64_t size,
                                         fe_access access, std::shared_ptr<void> owner,
                                         const std::optional<TensorType>& array) {
  const fe_backend& table = device->table();
  auto storage = std::make_shared<Held>(
      device, array ? LivingThing(LivingArray{*array}) : LivingThing(LivingBytes{"borrowed memory", size}));
  if (!table.buffer_borrow || device->properties().borrow_alignment == 0)
    fail(FE_UNSUPPORTED, "{} does not borrow host memory", device->name());
  storage->origin_ = Origin::borrowed;
  device->check(table.buffer_borrow(device->open(), pointer, size, access, &storage->buffer_));
  storage->size_ = size;
  storage->access_ = access;
  storage->owner_ = std::move(owner);
  storage->allocator.count_borrowed(static_cast<int64_t>(size));
  if (table.buffer_host_pointer) storage->host_pointer_ = table.buffer_host_pointer(storage->buffer_);
  return storage;
}

std::shared_ptr<Storage> Storage::part(const std::shared_ptr<Storage>& whole, uint64_t offset, uint64_t size) {
  if (offset > whole->size_ || size > whole->size_ - offset)
    fail(FE_INTERNAL, "a part of {} bytes from byte {} of a storage of {}", size, offset, whole->size_);
  const std::shared_ptr<Storage> part =
      std::make_shared<Held>(whole->device(), LivingBytes{"a part of borrowed memory", size});
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
  const std::shared_ptr<Storage> to = std::make_shared<Held>(from->device(), LivingBytes{"memory", from->size_});
  to->size_ = from->size_;
  move_back(from, *to);
  return to;
}

void Storage::move_back(const std::shared_ptr<Storage>& from, Storage& to) {
  to.buffer_ = std::exchange(from->buffer_, nullptr);
  to.host_pointer_ = std::exchange(from->host_pointer_, nullptr);
}

}  // namespace ferrule
