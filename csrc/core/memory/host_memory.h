// Host memory from which a device copies at full speed; and the pieces of it through which other memory is copied.
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

// Of one device. What it gives is host_allocate's where the device has such memory, else the core's own. Any thread.
class HostMemory {
 public:
  // The largest piece; more is copied piece by piece, so that the host fills one while the device reads another.
  static constexpr uint64_t piece_size = uint64_t{4} << 20;

  explicit HostMemory(Device& device);
  ~HostMemory();
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  // At a multiple of 64 bytes; `size` > 0. Throws Error(out_of_memory) with the size. `use` ends with it.
  std::byte* allocate(uint64_t size, DeviceUse use = {});
  // False when allocate() has not given it, or it is freed already.
  bool free(void* pointer) noexcept;
  // Whether the device has such memory; else what is given here is any memory.
  bool is_of_device();
  // Whether the bytes lie in memory of allocate().
  bool has(const void* pointer, uint64_t size) const;
  // Memory for one copy of that queue; its work keeps it until it is over. Where many are in use, it waits for the
  // queue's oldest work.
  std::shared_ptr<std::byte> stage(uint64_t size, DeviceQueue& queue, const Cancel& cancel = {});
  // Frees the pieces that nothing uses.
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
  mutable BriefMutex mutex_;  // of what follows
  struct Block {
    uint64_t size;
    DeviceUse use;
  };
  std::map<uintptr_t, Block> allocated_;
};

}  // namespace ferrule
