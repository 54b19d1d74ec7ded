#include "core/memory/allocator.h"

#include "core/error.h"
#include "core/registry/device.h"

#include <algorithm>
#include <bit>
#include <mutex>

namespace ferrule {
namespace {

// What is kept at most, in bytes: enough for the arrays of one step of a loop, at most a quarter of what there is.
uint64_t most_cached(uint64_t total_memory) {
  constexpr uint64_t most = uint64_t{1} << 30;
  return total_memory == 0 ? most : std::min(most, total_memory / 4);
}

}  // namespace

Allocator::Allocator(Device& device) : device_(device), most_cached_(most_cached(device.properties().total_memory)) {}
Allocator::~Allocator() { trim(); }

// Multiples of 64 bytes up to 1 KiB; above, four steps from one power of two to the next.
uint64_t Allocator::size_class(uint64_t bytes) {
  const uint64_t step = bytes <= 1024 ? 64 : std::bit_floor(bytes - 1) / 4;
  return (std::max<uint64_t>(bytes, 1) + step - 1) / step * step;
}

fe_error* Allocator::allocate(uint64_t bytes, fe_module_buffer** out) {
  return device_.table().buffer_allocate(device_.open(), bytes, 64, out);
}

fe_module_buffer* Allocator::take(uint64_t bytes, bool prepared) {
  if (bytes > (uint64_t{1} << 62))
    fail(FE_OUT_OF_MEMORY, "{}: {} bytes are more than memory can be", device_.name(), bytes);
  const uint64_t size = prepared ? bytes : size_class(bytes);
  fe_module_buffer* buffer = nullptr;
  if (!prepared) {
    const std::scoped_lock lock(mutex_);
    const auto found = cache_.find(size);
    if (found != cache_.end() && !found->second.empty()) {
      buffer = found->second.back();
      found->second.pop_back();
      cached_ -= size;
    }
    if (buffer) {
      live_ += size;
      peak_ = std::max(peak_, live_);
      return buffer;
    }
  }
  fe_error* error = allocate(size, &buffer);
  if (error && code_of(error) == FE_OUT_OF_MEMORY && trim()) {
    release(error);
    error = allocate(size, &buffer);
  }
  if (error && code_of(error) == FE_OUT_OF_MEMORY) {
    const std::string message = message_of(error);
    release(error);
    const MemoryStatistics now = statistics();
    fail(FE_OUT_OF_MEMORY, "{} has no {} bytes: {} ({} bytes are live, {} borrowed)", device_.name(), bytes, message,
         now.live, now.borrowed);
  }
  device_.check(error);
  const std::scoped_lock lock(mutex_);
  live_ += size;
  prepared_ += prepared ? size : 0;
  peak_ = std::max(peak_, live_);
  return buffer;
}

void Allocator::give_back(fe_module_buffer* buffer, uint64_t bytes, bool prepared) noexcept {
  const uint64_t size = prepared ? bytes : size_class(bytes);
  {
    const std::scoped_lock lock(mutex_);
    live_ -= size;
    prepared_ -= prepared ? size : 0;
    if (!prepared && cached_ + size <= most_cached_) {
      try {
        cache_[size].push_back(buffer);
        cached_ += size;
        return;
      } catch (...) {  // no memory to remember it with: free it
      }
    }
  }
  if (!device_.belongs_to_parent()) device_.table().buffer_free(buffer);
}

bool Allocator::trim() noexcept {
  std::map<uint64_t, std::vector<fe_module_buffer*>> cache;
  bool cached = false;
  {
    const std::scoped_lock lock(mutex_);
    cache.swap(cache_);
    cached = cached_ > 0;
    cached_ = 0;
  }
  if (device_.belongs_to_parent()) return false;
  for (const auto& [size, buffers] : cache)
    for (fe_module_buffer* buffer : buffers) device_.table().buffer_free(buffer);
  return cached;
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
  device.while_open([&] {
    device.open();  // throws when it is lost or another process's
    device.attached<Allocator>().trim();
  });
}

}  // namespace ferrule
