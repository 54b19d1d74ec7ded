#include "core/memory/storage.h"

#include "core/error.h"
#include "core/memory/allocator.h"
#include "core/registry/device.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

namespace ferrule {
namespace {

std::atomic<uint64_t> next_generation{1};

}  // namespace

class Storage::Held final : public Storage {
 public:
  Held(const std::shared_ptr<Device>& device, UseDescription what)
      : use(device->use(std::move(what))), allocator(device->attached<Allocator>()) {}
  // Work that uses a storage keeps it, except allocated memory of its device, which goes back with fences: see
  // Submission.
  ~Held() {
    if (!buffer_ || whole_) return;
    if (origin_ == Origin::borrowed) {
      if (!use.device()->belongs_to_parent()) use.device()->table().buffer_free(buffer_);
      allocator.count_borrowed(-static_cast<int64_t>(size_));
    } else {
      Uses* const uses = uses_.load(std::memory_order_acquire);
      allocator.give_back(buffer_, size_, origin_ == Origin::prepared, uses ? std::move(uses->works) : Fences());
    }
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

  static std::shared_ptr<Storage> allocated(const std::shared_ptr<Device>& device, UseDescription what, uint64_t size,
                                            const DeviceQueue* queue, Origin origin) {
    if (size == 0) fail(FE_INTERNAL, "a storage has at least one byte");
    auto storage = std::make_shared<Held>(device, std::move(what));
    Allocator::Grant grant = storage->allocator.take(size, origin == Origin::prepared, queue);
    storage->buffer_ = grant.buffer;
    storage->size_ = size;
    storage->origin_ = origin;
    const fe_backend& table = device->table();
    if (table.buffer_host_pointer) storage->host_pointer_ = table.buffer_host_pointer(storage->buffer_);
    if (!grant.fences.empty()) storage->get_or_make_uses().works = std::move(grant.fences);
    return storage;
  }

  const DeviceUse use;
  Allocator& allocator;
};

Storage::Storage() : generation_(next_generation++) {}
Storage::~Storage() { delete uses_.load(std::memory_order_acquire); }

Storage::Uses& Storage::get_or_make_uses() const {
  std::atomic<Uses*>& place = uses_of();
  if (Uses* const made = place.load(std::memory_order_acquire)) return *made;
  auto mine = std::make_unique<Uses>();
  Uses* made = nullptr;
  return place.compare_exchange_strong(made, mine.get(), std::memory_order_acq_rel) ? *mine.release() : *made;
}

void Storage::was_read(const WorkPointer& work) {
  Uses& uses = get_or_make_uses();
  WorkPointer before;  // released after unlocking
  const std::scoped_lock lock(uses.mutex);
  const auto is_of_queue = [&](const WorkPointer& other) { return &other->queue() == &work->queue(); };
  const auto found = std::find_if(uses.works.begin() + (uses.has_write ? 1 : 0), uses.works.end(), is_of_queue);
  if (found == uses.works.end())
    uses.works.push_back(work);
  else
    before = std::exchange(*found, work);
}

void Storage::was_written(const WorkPointer& work) {
  Uses& uses = get_or_make_uses();
  Fences now = {work};
  const std::scoped_lock lock(uses.mutex);
  uses.works.swap(now);
  uses.has_write = true;
}

WorkPointer Storage::last_write() const {
  const Uses* const uses = uses_of().load(std::memory_order_acquire);
  if (!uses) return nullptr;
  const std::scoped_lock lock(uses->mutex);
  if (!uses->has_write || (uses->works.front()->may_free_memory() && !uses->works.front()->has_failed()))
    return nullptr;
  return uses->works.front();
}

void Storage::add_uses(Fences& to) const {
  const Uses* const uses = uses_of().load(std::memory_order_acquire);
  if (!uses) return;
  Fences all;
  {
    const std::scoped_lock lock(uses->mutex);
    all = uses->works;
  }
  for (WorkPointer& work : all)
    if (!work->is_over()) to.push_back(std::move(work));
}

void Storage::finish_write(const Cancel& cancel) const {
  const WorkPointer write = last_write();
  if (!write) return;
  write->wait(cancel);
  write->check();
}

void Storage::finish_uses(const Cancel& cancel) const {
  Fences uses;
  add_uses(uses);
  for (const WorkPointer& work : uses) work->wait(cancel);
}

const std::shared_ptr<Device>& Storage::device() const { return static_cast<const Held&>(*this).use.device(); }

std::shared_ptr<Storage> Storage::allocate(const std::shared_ptr<Device>& device, uint64_t size,
                                           const DeviceQueue* queue, Origin origin) {
  const char* const what = origin == Origin::prepared ? "prepared constant" : "memory";
  return Held::allocated(device, BytesInUse{what, size}, size, queue, origin);
}

std::shared_ptr<Storage> Storage::allocate(const std::shared_ptr<Device>& device, const TensorType& type,
                                           const DeviceQueue* queue) {
  return Held::allocated(device, ArrayInUse{type}, static_cast<uint64_t>(byte_count(type)), queue, Origin::allocated);
}

template <class Function>
std::shared_ptr<Storage> Storage::make_borrowed(const std::shared_ptr<Device>& device, UseDescription what,
                                                uint64_t size, fe_access access, std::shared_ptr<void> owner,
                                                const Function& make_buffer) {
  const fe_backend& table = device->table();
  auto storage = std::make_shared<Held>(device, std::move(what));
  storage->origin_ = Origin::borrowed;
  device->check(make_buffer(table, device->open(), &storage->buffer_));
  storage->size_ = size;
  storage->access_ = access;
  storage->owner_ = std::move(owner);
  storage->allocator.count_borrowed(static_cast<int64_t>(size));
  if (table.buffer_host_pointer) storage->host_pointer_ = table.buffer_host_pointer(storage->buffer_);
  return storage;
}

std::shared_ptr<Storage> Storage::borrow(const std::shared_ptr<Device>& device, void* pointer, uint64_t size,
                                         fe_access access, std::shared_ptr<void> owner,
                                         const std::optional<TensorType>& array) {
  if (!device->table().buffer_borrow || device->properties().borrow_alignment == 0)
    fail(FE_UNSUPPORTED, "{} does not borrow host memory", device->name());
  UseDescription what =
      array ? UseDescription(ArrayInUse{*array}) : UseDescription(BytesInUse{"borrowed memory", size});
  return make_borrowed(device, std::move(what), size, access, std::move(owner),
                       [&](const fe_backend& table, fe_module_device* handle, fe_module_buffer** out) {
                         return table.buffer_borrow(handle, pointer, size,
                                                    access == FE_ACCESS_READ_FILE ? FE_ACCESS_READ : access, out);
                       });
}

std::shared_ptr<Storage> Storage::import(const std::shared_ptr<Device>& device, const fe_native_memory& memory,
                                         uint64_t size, fe_access access, std::shared_ptr<void> owner,
                                         const TensorType& array) {
  if (!device->table().buffer_import)
    fail(FE_UNSUPPORTED, "{} does not take memory of other libraries", device->name());
  return make_borrowed(device, ArrayInUse{array}, size, access, std::move(owner),
                       [&](const fe_backend& table, fe_module_device* handle, fe_module_buffer** out) {
                         return table.buffer_import(handle, &memory, size, access, out);
                       });
}

std::shared_ptr<Storage> Storage::part(const std::shared_ptr<Storage>& whole, uint64_t offset, uint64_t size) {
  if (offset > whole->size_ || size > whole->size_ - offset)
    fail(FE_INTERNAL, "a part of {} bytes from byte {} of a storage of {}", size, offset, whole->size_);
  const std::shared_ptr<Storage> part = std::make_shared<Held>(
      whole->device(),
      BytesInUse{whole->origin_ == Origin::prepared ? "prepared constant" : "a part of borrowed memory", size});
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

std::shared_ptr<Storage> Storage::move_memory(const std::shared_ptr<Storage>& from) {
  const std::shared_ptr<Storage> to = std::make_shared<Held>(from->device(), BytesInUse{"memory", from->size_});
  to->size_ = from->size_;
  move_back(from, *to);
  return to;
}

void Storage::move_back(const std::shared_ptr<Storage>& from, Storage& to) {
  to.buffer_ = std::exchange(from->buffer_, nullptr);
  delete to.uses_.exchange(from->uses_.exchange(nullptr));
  to.host_pointer_ = std::exchange(from->host_pointer_, nullptr);
}

}  // namespace ferrule
