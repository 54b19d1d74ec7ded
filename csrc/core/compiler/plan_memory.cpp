#include "core/compiler/plan_memory.h"

#include "base/error.h"

#include <algorithm>

namespace ferrule {

uint64_t WorkspacePlanner::take(uint64_t bytes) {
  if (bytes > most - size_)
    fail(FE_OUT_OF_MEMORY, "the temporaries of one execution need more than {} bytes: {} and {} more", most, size_,
         bytes);
  bytes = rounded(std::max<uint64_t>(bytes, 1));
  const auto found = by_size_.lower_bound(bytes);
  uint64_t offset = 0, free_bytes = 0;
  if (found != by_size_.end()) {
    free_bytes = found->first;
    offset = found->second;
    by_size_.erase(found);
    by_offset_.erase(offset);
  } else if (!by_offset_.empty() && by_offset_.rbegin()->first + by_offset_.rbegin()->second == size_) {
    // The last free range reaches the end: extend it.
    offset = by_offset_.rbegin()->first;
    const auto range = by_size_.equal_range(by_offset_.rbegin()->second);
    by_size_.erase(std::find_if(range.first, range.second, [&](const auto& entry) { return entry.second == offset; }));
    by_offset_.erase(offset);
    free_bytes = bytes;
    size_ = offset + bytes;
  } else {
    offset = size_;
    free_bytes = bytes;
    size_ += bytes;
  }
  if (free_bytes > bytes) insert(offset + bytes, free_bytes - bytes);
  return offset;
}

void WorkspacePlanner::give_back(uint64_t offset, uint64_t bytes) {
  bytes = rounded(std::max<uint64_t>(bytes, 1));
  const auto drop_size = [this](uint64_t size, uint64_t at) {
    const auto range = by_size_.equal_range(size);
    by_size_.erase(std::find_if(range.first, range.second, [&](const auto& entry) { return entry.second == at; }));
  };
  auto next = by_offset_.lower_bound(offset);
  if (next != by_offset_.end() && offset + bytes == next->first) {
    bytes += next->second;
    drop_size(next->second, next->first);
    next = by_offset_.erase(next);
  }
  if (next != by_offset_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == offset) {
      offset = before->first;
      bytes += before->second;
      drop_size(before->second, before->first);
      by_offset_.erase(before);
    }
  }
  insert(offset, bytes);
}

void WorkspacePlanner::insert(uint64_t offset, uint64_t bytes) {
  by_offset_.emplace(offset, bytes);
  by_size_.emplace(bytes, offset);
}

}  // namespace ferrule
