// The free bytes of a block: best fit; a freed range joins its neighbours.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <optional>

namespace ferrule::vulkan {

class FreeRanges {
 public:
  explicit FreeRanges(uint64_t size) : size_(size) { ranges_.emplace(0, size); }

  struct Fit {
    uint64_t range;   // the free range that contains it
    uint64_t offset;  // aligned
    uint64_t spare;   // the bytes left over in the range: fewer is better
  };
  // The best place for `size` bytes at a multiple of `alignment`, a power of two, in a block that begins at address
  // `base`.
  std::optional<Fit> find(uint64_t size, uint64_t alignment, uint64_t base) const {
    std::optional<Fit> best;
    for (const auto& [begin, length] : ranges_) {
      const uint64_t padding = (alignment - (base + begin) % alignment) % alignment;
      if (padding > length || size > length - padding) continue;
      const Fit fit = {begin, begin + padding, length - size};
      if (!best || fit.spare < best->spare) best = fit;
    }
    return best;
  }
  void take(const Fit& fit, uint64_t size) {
    const uint64_t end = fit.range + ranges_.at(fit.range), after = fit.offset + size;
    // Adds the new range first: if this throws, nothing has changed.
    if (after < end) ranges_.emplace(after, end - after);
    if (fit.offset == fit.range)
      ranges_.erase(fit.range);
    else
      ranges_[fit.range] = fit.offset - fit.range;
  }
  void give_back(uint64_t offset, uint64_t size) {
    const auto after = ranges_.lower_bound(offset);
    const bool joins_after = after != ranges_.end() && offset + size == after->first;
    if (after != ranges_.begin()) {
      const auto before = std::prev(after);
      if (before->first + before->second == offset) {
        before->second += size + (joins_after ? after->second : 0);
        if (joins_after) ranges_.erase(after);
        return;
      }
    }
    if (joins_after) {
      auto node = ranges_.extract(after);
      node.key() = offset;
      node.mapped() += size;
      ranges_.insert(std::move(node));
    } else {
      ranges_.emplace(offset, size);
    }
  }
  bool is_all_free() const { return ranges_.size() == 1 && ranges_.begin()->second == size_; }

 private:
  uint64_t size_;
  std::map<uint64_t, uint64_t> ranges_;  // offset to size
};

}  // namespace ferrule::vulkan
