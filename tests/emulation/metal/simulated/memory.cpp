#include "metal/simulated/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#include "metal/objc/faults.h"

namespace simulated {

namespace {

constexpr std::size_t page = 4096, alignment = 256;
constexpr int around = 0xa5;  // what the bytes before and after the memory hold

std::size_t rounded_up(std::size_t value, std::size_t to) { return (value + to - 1) / to * to; }

// Addresses of memory that was freed stay reserved.
void keep_address(void* map, std::size_t bytes) {
  constexpr std::size_t most = 512;
  static constinit std::mutex mutex;
  static auto& kept = *new std::deque<std::pair<void*, std::size_t>>();
  // If that fails, the memory stays as it is.
  static_cast<void>(::mmap(map, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0));
  const std::scoped_lock lock(mutex);
  kept.emplace_back(map, bytes);
  if (kept.size() <= most) return;
  ::munmap(kept.front().first, kept.front().second);
  kept.pop_front();
}

}  // namespace

GuardedMemory::GuardedMemory(std::size_t bytes)
    : bytes_(bytes), mapped_(rounded_up(rounded_up(bytes, alignment), page) + page) {
  if (bytes > mapped_) throw std::bad_alloc();
  void* const map = ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED) throw std::bad_alloc();
  map_ = static_cast<std::byte*>(map);
  std::byte* const end = map_ + mapped_ - page;
  ::mprotect(end, page, PROT_NONE);
  begin_ = end - rounded_up(bytes, alignment);
  std::memset(map_, around, static_cast<std::size_t>(begin_ - map_));
  std::memset(begin_, 0xff, bytes);
  std::memset(begin_ + bytes, around, static_cast<std::size_t>(end - begin_) - bytes);
}

GuardedMemory::~GuardedMemory() {
  const auto is_changed = [](std::byte value) { return value != std::byte{around}; };
  const std::byte* const end = begin_ + bytes_;
  if (std::any_of(static_cast<const std::byte*>(map_), static_cast<const std::byte*>(begin_), is_changed))
    objc::report_fault("bytes before a buffer of " + std::to_string(bytes_) + " bytes were written");
  if (std::any_of(end, static_cast<const std::byte*>(map_) + mapped_ - page, is_changed))
    objc::report_fault("bytes after a buffer of " + std::to_string(bytes_) + " bytes were written");
  keep_address(map_, mapped_);
}

}  // namespace simulated
