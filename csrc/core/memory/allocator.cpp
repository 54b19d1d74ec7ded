#include "core/memory/allocator.h"

#include "core/error.h"
#include "core/memory/host_memory.h"
#include "core/memory/kept_memory.h"
#include "core/memory/queue.h"
#include "core/registry/device.h"

#include <algorithm>
#include <bit>
#include <mutex>

namespace ferrule {
namespace {

// Number of further cached bytes after which give_back() checks whether the device is short of memory.
constexpr uint64_t bytes_between_looks = uint64_t{1} << 28;
// Attempts to make room for one request, in case other threads take the memory that was freed.
constexpr int max_turns = 20;

bool all_may_free_memory(const Fences& fences) {
  return std::all_of(fences.begin(), fences.end(), [](const WorkPointer& work) { return work->may_free_memory(); });
}

}  // namespace

Allocator::Allocator(Device& device) : device_(device) {}
Allocator::~Allocator() { trim(); }

// Multiples of 64 bytes up to 1 KiB; above, eight sizes per power of two.
uint64_t Allocator::size_class(uint64_t bytes) {
  const uint64_t step = bytes <= 1024 ? 64 : std::bit_floor(bytes - 1) / 8;
  return (std::max<uint64_t>(bytes, 1) + step - 1) / step * step;
}

fe_error* Allocator::allocate(uint64_t bytes, fe_module_buffer** out) {
  return device_.table().buffer_allocate(device_.open(), bytes, 64, out);
}

Allocator::Grant Allocator::from_cache(uint64_t size, const DeviceQueue* queue) {
  Grant grant;
  const std::scoped_lock lock(mutex_);
  const auto found = cache_.find(size);
  if (found == cache_.end()) return grant;
  const auto is_fit = [&](const Grant& cached) {
    return std::all_of(cached.fences.begin(), cached.fences.end(),
                       [&](const WorkPointer& work) { return work->may_free_memory() || &work->queue() == queue; });
  };
  std::vector<Grant>& buffers = found->second;
  const auto fit = std::find_if(buffers.rbegin(), buffers.rend(), is_fit);  // the last returned is likely in a cache
  if (fit == buffers.rend()) return grant;
  std::swap(*fit, buffers.back());
  grant = std::move(buffers.back());
  buffers.pop_back();
  cached_ -= size;
  count_live(size, false);
  return grant;
}

void Allocator::count_live(uint64_t size, bool prepared) {
  live_ += size;
  prepared_ += prepared ? size : 0;
  peak_ = std::max(peak_, live_);
}

// Reserves `size` bytes within the limit until they are allocated or the allocation fails.
void Allocator::promise(uint64_t bytes, uint64_t size) {
  uint64_t live = 0, limit = 0;
  for (int turn = 0; turn <= max_turns; ++turn) {
    if (turn > 0) make_room();
    const std::scoped_lock lock(mutex_);
    if (fits(size)) {
      promised_ += size;
      return;
    }
    live = live_;
    limit = limit_;
    if (turn > 0 && !may_fit(size)) break;  // else other threads cached memory in the meantime
  }
  fail(FE_OUT_OF_MEMORY, "{} has no {} bytes: {} are live, and the limit that was set is {}", device_.name(), bytes,
       live, limit);
}

fe_module_buffer* Allocator::allocated(uint64_t bytes, uint64_t size) {
  fe_module_buffer* buffer = nullptr;
  fe_error* error = nullptr;
  for (int turn = 0; turn <= max_turns; ++turn) {
    const uint64_t freed = freed_;
    error = allocate(size, &buffer);
    if (!error || code_of(error) != FE_OUT_OF_MEMORY || turn == max_turns) break;
    // Another thread may have freed memory in the meantime.
    if (!make_room() && freed == freed_) break;
    release(error);
  }
  if (error && code_of(error) == FE_OUT_OF_MEMORY) {
    const std::string message = message_of(error);
    release(error);
    const MemoryStatistics now = statistics();
    fail(FE_OUT_OF_MEMORY, "{} has no {} bytes: {} ({} bytes are live, {} borrowed)", device_.name(), bytes, message,
         now.live, now.borrowed);
  }
  device_.check(error);
  return buffer;
}

Allocator::Grant Allocator::take(uint64_t bytes, bool prepared, const DeviceQueue* queue) {
  if (bytes > (uint64_t{1} << 62))
    fail(FE_OUT_OF_MEMORY, "{}: {} bytes exceed the address space", device_.name(), bytes);
  const uint64_t size = prepared ? bytes : size_class(bytes);
  if (device_.table().queue_create) device_.attached<DeviceQueues>().reap();
  if (!prepared)
    if (Grant cached = from_cache(size, queue); cached.buffer) return cached;
  promise(bytes, size);
  fe_module_buffer* buffer = nullptr;
  try {
    buffer = allocated(bytes, size);
  } catch (...) {
    const std::scoped_lock lock(mutex_);
    promised_ -= size;
    throw;
  }
  const std::scoped_lock lock(mutex_);
  promised_ -= size;
  count_live(size, prepared);
  return {buffer};
}

void Allocator::give_back(fe_module_buffer* buffer, uint64_t bytes, bool prepared, Fences fences) noexcept {
  // Memory that abandoned work may still use stays live.
  const auto is_abandoned = [](const WorkPointer& work) { return work->is_abandoned(); };
  if (std::any_of(fences.begin(), fences.end(), is_abandoned)) return;
  const uint64_t size = prepared ? bytes : size_class(bytes);
  Grant grant{buffer, std::move(fences)};
  bool looks = false;
  {
    const std::scoped_lock lock(mutex_);
    live_ -= size;
    prepared_ -= prepared ? size : 0;
    if (!prepared && remember(grant, size)) {
      looks = cached_ >= next_look_;
      if (looks) next_look_ = cached_ + bytes_between_looks;
    }
  }
  if (looks && is_short()) trim();
  if (grant.buffer && all_may_free_memory(grant.fences) && !device_.belongs_to_parent())
    device_.table().buffer_free(grant.buffer);
}

// Requires mutex_ locked. Moves the grant into the cache; false if there is no memory for the entry.
bool Allocator::remember(Grant& grant, uint64_t size) noexcept {
  try {
    cache_[size].push_back(grant);
  } catch (...) {
    return false;
  }
  grant = {};
  cached_ += size;
  return true;
}

// If the device does not report free memory, it counts as short when more than an eighth of its memory is cached.
bool Allocator::is_short() const noexcept {
  uint64_t free_bytes = UINT64_MAX, total_bytes = 0;
  const ErrorPointer error(guarded([&]() -> fe_error* {
    const auto ask = device_.table().device_memory;
    return ask ? ask(device_.open(), &free_bytes, &total_bytes) : nullptr;
  }));
  if (error) return true;
  if (total_bytes == 0) total_bytes = device_.properties().total_memory;
  if (free_bytes != UINT64_MAX) return free_bytes < total_bytes / 8;
  return statistics().cached > total_bytes / 8;
}

// Waits for the queues, so that trim() can free the memory that they used.
bool Allocator::make_room() {
  const std::scoped_lock lock(making_room_);
  device_.attached<KeptMemories>().give_back();
  device_.attached<DeviceQueues>().synchronize();
  return trim();
}

bool Allocator::trim() noexcept {
  std::map<uint64_t, std::vector<Grant>> cache;
  {
    const std::scoped_lock lock(mutex_);
    cache.swap(cache_);
    if (device_.belongs_to_parent()) cached_ = 0;
  }
  if (device_.belongs_to_parent()) return false;
  bool has_freed = false;
  for (auto& [size, buffers] : cache)
    for (Grant& grant : buffers) {
      const bool is_free = all_may_free_memory(grant.fences);
      if (is_free) {
        device_.table().buffer_free(grant.buffer);
        has_freed = true;
        ++freed_;
      }
      const std::scoped_lock lock(mutex_);  // counted until it is freed
      cached_ -= size;
      if (!is_free) remember(grant, size);  // leaks the buffer if there is no memory for the entry
    }
  return has_freed;
}

MemoryStatistics Allocator::statistics() const {
  const std::scoped_lock lock(mutex_);
  return {live_, cached_, prepared_, borrowed_, peak_};
}

MemoryStatistics memory_statistics(Device& device) {
  MemoryStatistics statistics;
  device.while_open([&] { statistics = device.attached<Allocator>().statistics(); });
  return statistics;
}

void trim_memory(Device& device) {
  if (!device.is_open()) return;
  const DeviceUse trimming = device.use("a trim");  // throws if the device is lost or belongs to another process
  device.attached<Allocator>().make_room();
  device.attached<HostMemory>().trim();
}

}  // namespace ferrule
