// Bytes on a device: a backend's buffer, counted, shared by strided arrays; and who owns or caches it.
#pragma once

#include "core/cancel.h"
#include "core/memory/work.h"
#include "ops/tensor_type.h"

#include <ferrule/backend.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace ferrule {

class Allocator;
class Device;

class Storage {
 public:
  enum class Origin : uint8_t { allocated, borrowed, prepared };
  // From the device's caching allocator, for the first use by that queue (null: by the host, or by any queue). Throws
  // Error(out_of_memory) with the sizes. `size` > 0.
  static std::shared_ptr<Storage> allocate(const std::shared_ptr<Device>& device, uint64_t size,
                                           const DeviceQueue* queue = nullptr, Origin origin = Origin::allocated);
  // For an array of its own: unload names its shape when the array is in the way.
  static std::shared_ptr<Storage> allocate(const std::shared_ptr<Device>& device, const TensorType& type,
                                           const DeviceQueue* queue = nullptr);
  // Over host memory, in which `array` lies, kept alive by `owner` until the storage and every
  // execution that reads it are gone. Throws Error(unsupported) when the device cannot borrow it.
  static std::shared_ptr<Storage> borrow(const std::shared_ptr<Device>& device, void* pointer, uint64_t size,
                                         fe_access access, std::shared_ptr<void> owner,
                                         const std::optional<TensorType>& array = std::nullopt);
  // Over memory of the device that another library has, as DLPack names it, kept alive as above. Throws
  // Error(unsupported) when the device does not know it.
  static std::shared_ptr<Storage> import(const std::shared_ptr<Device>& device, const fe_native_memory& memory,
                                         uint64_t size, fe_access access, std::shared_ptr<void> owner,
                                         const TensorType& array);
  // Bytes of another storage from `offset` on, for an array that does not begin at a multiple of its blocks there. It
  // has the generation of the whole, which it keeps alive.
  static std::shared_ptr<Storage> part(const std::shared_ptr<Storage>& whole, uint64_t offset, uint64_t size);
  // The memory of an allocated storage that nobody else has, under a generation of its own: what had it is left
  // without.
  static std::shared_ptr<Storage> moved(const std::shared_ptr<Storage>& from);
  // The other way: to a storage from which it was moved.
  static void move_back(const std::shared_ptr<Storage>& from, Storage& to);
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  const std::shared_ptr<Device>& device() const;
  fe_module_buffer* buffer() const { return buffer_; }
  uint64_t buffer_offset() const { return buffer_offset_; }  // bytes from the buffer's first to its own
  uint64_t size() const { return size_; }
  Origin origin() const { return origin_; }
  bool is_part() const { return whole_ != nullptr; }  // of another storage, whose memory it is
  bool writable() const { return access_ == FE_ACCESS_READ_WRITE; }
  // Borrowed memory that its owner may write at any time.
  bool is_borrowed_writable() const { return origin_ == Origin::borrowed && writable(); }
  uint64_t generation() const { return generation_; }   // unique in the process
  void* host_pointer() const { return host_pointer_; }  // NULL when the host cannot reach it

  // What queues do with the bytes. Any thread. Where no queue has used them, all of it costs one look.
  bool has_uses() const { return uses_of().load(std::memory_order_acquire) != nullptr; }
  void was_read(const WorkPointer& work);
  void was_written(const WorkPointer& work);
  // The last work that wrote them; null for none, or for work that is known to have ended well.
  WorkPointer last_write() const;
  // Adds the work that is not known to be over.
  void add_uses(std::vector<WorkPointer>& uses) const;
  // Before the host reads: waits for who writes, and throws its error. Error(cancelled), too.
  void finish_write(const Cancel& cancel = {}) const;
  // Before the host writes: waits for who reads, as well.
  void finish_uses(const Cancel& cancel = {}) const;

 private:
  struct Uses {
    mutable BriefMutex mutex;  // of what follows
    bool has_write = false;    // the first work is the last that wrote
    Fences works;              // and the last of each queue that read since
  };
  std::atomic<Uses*>& uses_of() const { return whole_ ? whole_->uses_ : uses_; }
  Uses& made_uses() const;
  template <class Function>
  static std::shared_ptr<Storage> make_borrowed(const std::shared_ptr<Device>& device, UseDescription what,
                                                uint64_t size, fe_access access, std::shared_ptr<void> owner,
                                                const Function& make_buffer);
  class Held;  // what a storage is: it has its device, and gives the memory back
  Storage();
  ~Storage();
  fe_module_buffer* buffer_ = nullptr;
  uint64_t buffer_offset_ = 0, size_ = 0, generation_ = 0;
  std::shared_ptr<Storage> whole_;  // of a part
  Origin origin_ = Origin::allocated;
  fe_access access_ = FE_ACCESS_READ_WRITE;
  void* host_pointer_ = nullptr;
  std::shared_ptr<void> owner_;
  mutable std::atomic<Uses*> uses_{nullptr};  // made by the first queue
};

// Packs a constant operand for the kernel of `node` once; equal (storage, offset, key) share one copy, which is dropped
// with the last executable that holds it. nullptr when the device wants none.
std::shared_ptr<Storage> prepared_constant(Device& device, const fe_graph_view& view, uint32_t node, uint32_t input,
                                           const std::shared_ptr<Storage>& constant, uint64_t byte_offset);

}  // namespace ferrule
