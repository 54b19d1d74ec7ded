// Reference-counted bytes on a device: a buffer of a backend, shared by strided arrays, and its owner.
#pragma once

#include "core/cancel.h"
#include "core/memory/work.h"
#include "base/tensor_type.h"

#include <ferrule/backend.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ferrule {

class Allocator;
class Device;

class Storage {
 public:
  enum class Origin : uint8_t { allocated, borrowed, prepared };
  // Allocates from the device's caching allocator, for first use by `queue` (null: by the host or any queue). Throws
  // Error(out_of_memory) with the sizes. `size` > 0.
  static std::shared_ptr<Storage> allocate(const std::shared_ptr<Device>& device, uint64_t size,
                                           const DeviceQueue* queue = nullptr, Origin origin = Origin::allocated);
  // Allocates for a single array: unload names its shape if the array prevents unloading.
  static std::shared_ptr<Storage> allocate(const std::shared_ptr<Device>& device, const TensorType& type,
                                           const DeviceQueue* queue = nullptr);
  // Borrows host memory that contains `array`. `owner` lives until the storage and every execution that reads it are
  // gone. Throws Error(unsupported) if the device cannot borrow it.
  static std::shared_ptr<Storage> borrow(const std::shared_ptr<Device>& device, void* pointer, uint64_t size,
                                         fe_access access, std::shared_ptr<void> owner,
                                         const std::optional<TensorType>& array = std::nullopt);
  // Imports memory of the device that another library owns, as DLPack describes it; `owner` as above. Throws
  // Error(unsupported) if the device does not recognize it.
  static std::shared_ptr<Storage> import(const std::shared_ptr<Device>& device, const fe_native_memory& memory,
                                         uint64_t size, fe_access access, std::shared_ptr<void> owner,
                                         const TensorType& array);
  // Bytes of another storage from `offset`: for a packed constant, or for an array that does not begin at a multiple of
  // its block size there. Keeps the whole storage alive and has its generation.
  static std::shared_ptr<Storage> part(const std::shared_ptr<Storage>& whole, uint64_t offset, uint64_t size);
  // Moves the memory of an allocated storage that has no other user to a new storage with its own generation. `from` is
  // left without memory.
  static std::shared_ptr<Storage> move_memory(const std::shared_ptr<Storage>& from);
  // Undoes move_memory(): `to` is the storage that the memory came from.
  static void move_back(const std::shared_ptr<Storage>& from, Storage& to);
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  const std::shared_ptr<Device>& device() const;
  fe_module_buffer* buffer() const { return buffer_; }
  uint64_t buffer_offset() const { return buffer_offset_; }  // byte offset in the buffer
  uint64_t size() const { return size_; }
  Origin origin() const { return origin_; }
  bool is_part() const { return whole_ != nullptr; }  // shares the memory of another storage
  bool writable() const { return access_ == FE_ACCESS_READ_WRITE; }
  bool is_mapped_file() const { return access_ == FE_ACCESS_READ_FILE; }
  // Borrowed memory that its owner may write at any time.
  bool is_borrowed_writable() const { return origin_ == Origin::borrowed && writable(); }
  uint64_t generation() const { return generation_; }   // unique in the process
  void* host_pointer() const { return host_pointer_; }  // NULL if the host cannot access it

  // Uses of the bytes by queues. Thread-safe. If no queue has used them, each call is one atomic load.
  bool has_uses() const { return uses_of().load(std::memory_order_acquire) != nullptr; }
  void was_read(const WorkPointer& work);
  void was_written(const WorkPointer& work);
  // The last work that wrote the bytes; null if none, or if it is known to have succeeded.
  WorkPointer last_write() const;
  // Appends the uses that are not known to be over.
  void add_uses(std::vector<WorkPointer>& uses) const;
  // Call before the host reads. Waits for the last write and throws its error, or Error(cancelled).
  void finish_write(const Cancel& cancel = {}) const;
  // Call before the host writes. Waits for reads as well.
  void finish_uses(const Cancel& cancel = {}) const;

 private:
  struct Uses {
    mutable BriefMutex mutex;  // guards the members below
    bool has_write = false;    // the first of `works` is the last write
    Fences works;              // the last write, if any, then the last read of each queue since
  };
  std::atomic<Uses*>& uses_of() const { return whole_ ? whole_->uses_ : uses_; }
  Uses& get_or_make_uses() const;
  template <class Function>
  static std::shared_ptr<Storage> make_borrowed(const std::shared_ptr<Device>& device, UseDescription what,
                                                uint64_t size, fe_access access, std::shared_ptr<void> owner,
                                                const Function& make_buffer);
  class Held;  // the implementation: holds the device and gives the memory back
  Storage();
  ~Storage();
  fe_module_buffer* buffer_ = nullptr;
  uint64_t buffer_offset_ = 0, size_ = 0, generation_ = 0;
  std::shared_ptr<Storage> whole_;  // set for a part
  Origin origin_ = Origin::allocated;
  fe_access access_ = FE_ACCESS_READ_WRITE;
  void* host_pointer_ = nullptr;
  std::shared_ptr<void> owner_;
  mutable std::atomic<Uses*> uses_{nullptr};  // created by the first use of a queue
};

// A constant that a node of a graph reads: `size` bytes of a storage from `begin`.
struct ConstantOperand {
  uint32_t node, input;
  std::shared_ptr<Storage> storage;
  uint64_t begin, size;
};
// Packs constants for the kernels of their nodes; nullptr for those that the device does not pack. Equal (storage,
// bytes, layout) share one copy, which is released with the last executable that holds it, or another one of its chunk.
std::vector<std::shared_ptr<Storage>> prepared_constants(Device& device, const fe_graph_view& view,
                                                         std::span<const ConstantOperand> operands);

}  // namespace ferrule
