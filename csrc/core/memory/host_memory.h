// Host memory from which a device copies at full speed, and the staging pieces through which other memory is copied.
#pragma once

#include "core/cancel.h"
#include "core/registry/device.h"
#include "core/sync/mutexes.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace ferrule {

class DeviceQueue;

// Host memory of one device: from host_allocate if the module implements it, else from the core. Thread-safe.
class HostMemory {
 public:
  // The largest piece. Larger copies are divided, so that the host fills one piece while the device reads another.
  static constexpr uint64_t piece_size = uint64_t{4} << 20;

  explicit HostMemory(Device& device);
  ~HostMemory();
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  // Aligned to 64 bytes; `size` > 0. Throws Error(out_of_memory) with the size. Holds `use` until it is freed.
  std::byte* allocate(uint64_t size, DeviceUse use = {});
  // False if the pointer is not from allocate(), or is already freed.
  bool free(void* pointer) noexcept;
  // Whether the module allocates this memory; otherwise it is ordinary memory.
  bool is_of_device();
  // Whether the bytes lie in memory from allocate().
  bool has(const void* pointer, uint64_t size) const;
  // Memory for one copy on `queue`; the work of the copy keeps it. If too many pieces are in use, waits for the queue's
  // oldest work.
  std::shared_ptr<std::byte> stage(uint64_t size, DeviceQueue& queue, const Cancel& cancel = {});
  // Frees the unused pieces.
  void trim() noexcept;

 private:
  struct Pool;
  std::byte* allocate_plain(uint64_t size);
  std::shared_ptr<std::byte> single(uint64_t size);
  void free_plain(void* pointer) const noexcept;
  enum class Giver : uint8_t { unknown, core, device };
  Device& device_;
  std::atomic<Giver> giver_{Giver::unknown};
  const std::shared_ptr<Pool> pool_;
  mutable BriefMutex mutex_;  // guards allocated_
  struct Block {
    uint64_t size;
    DeviceUse use;
  };
  std::map<uintptr_t, Block> allocated_;
};

}  // namespace ferrule
