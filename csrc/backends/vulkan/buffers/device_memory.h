// Memory of a device: parts of blocks. A block is one VkDeviceMemory with one VkBuffer over all of it.
#pragma once

#include <ferrule/backend.hpp>

#include <array>
#include <mutex>

#include "buffers/block.h"
#include "buffers/memory_type.h"

namespace ferrule::vulkan {

class Memory;

// A part of a block, or a block of its own. The destructor frees it; the device's work with it must be done by then.
class Allocation {
 public:
  Allocation() = default;
  Allocation(Allocation&& other) noexcept { swap(other); }
  Allocation& operator=(Allocation&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Allocation();

  VkBuffer buffer = VK_NULL_HANDLE;
  uint64_t offset = 0;           // in the buffer
  uint64_t size = 0;             // at least the requested size
  uint64_t address = 0;          // of the first byte, for shaders
  void* host = nullptr;          // the first byte for the host; null if the host cannot access it
  bool is_fast_to_read = false;  // by the host, because it is cached

 private:
  friend class Memory;
  void swap(Allocation& other) noexcept {
    std::swap(buffer, other.buffer);
    std::swap(offset, other.offset);
    std::swap(size, other.size);
    std::swap(address, other.address);
    std::swap(host, other.host);
    std::swap(is_fast_to_read, other.is_fast_to_read);
    std::swap(memory_, other.memory_);
    std::swap(block_, other.block_);
  }
  Memory* memory_ = nullptr;
  Block* block_ = nullptr;
};

// Thread-safe.
class Memory {
 public:
  explicit Memory(const Context& context);
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory();

  // The address is a multiple of `alignment`, a power of two. Throws FE_OUT_OF_MEMORY.
  Allocation allocate(uint64_t size, uint64_t alignment, Use use);
  // Imports host memory, which must outlive the allocation. Throws FE_UNSUPPORTED with the reason; the core then
  // copies.
  Allocation borrow(void* pointer, uint64_t size);
  // Makes what the device has written visible to the host. Call it before the host reads.
  void invalidate(const Allocation& allocation) const;
  // Bytes of the device's own memory; free is UINT64_MAX if the driver does not report it.
  std::pair<uint64_t, uint64_t> free_and_total() const;
  size_t block_count() const;

 private:
  friend class Allocation;
  struct Pool {
    Use use;
    uint32_t type = 0;
    uint64_t block_size = 0;
    std::vector<std::unique_ptr<Block>> blocks = {};  // shared ones
  };

  void choose_types();
  std::unique_ptr<Block> make_block(const Pool& pool, uint64_t size) const;
  Allocation shared_block(Pool& pool, uint64_t size, uint64_t alignment);
  Allocation own_block(const Pool& pool, uint64_t size, uint64_t alignment);
  Allocation own_block(std::unique_ptr<Block> block, uint64_t size, uint64_t alignment);
  Allocation part_of(Block& block, const FreeRanges::Fit& fit, uint64_t size);
  void drop_spares();
  void give_back(const Allocation& allocation) noexcept;

  const Context& context_;
  std::array<Pool, use_count> pools_;
  mutable std::mutex mutex_;
};

// Memory of a device, in the SDK's interface.
class Buffer final : public sdk::Buffer {
 public:
  explicit Buffer(Allocation allocation) : allocation_(std::move(allocation)) {}
  const Allocation& allocation() const { return allocation_; }
  uint64_t address() const { return allocation_.address; }  // for shaders

 private:
  Allocation allocation_;
};

inline Buffer& buffer_of(fe_module_buffer* handle) {
  return static_cast<Buffer&>(*reinterpret_cast<sdk::Buffer*>(handle));
}

}  // namespace ferrule::vulkan
