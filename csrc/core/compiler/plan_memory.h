// Offsets of temporaries in one workspace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace ferrule {

// Allocates ranges of a growing block: the smallest free range that fits, else the end. Returned ranges merge with
// their neighbours. It is called in execution order, so the block's final size is what the execution needs.
class WorkspacePlanner {
 public:
  static constexpr uint64_t alignment = 64;
  static constexpr uint64_t most = uint64_t{1} << 62;  // no memory is larger, and sums of larger sizes would overflow
  uint64_t take(uint64_t bytes);
  void give_back(uint64_t offset, uint64_t bytes);
  uint64_t size() const { return size_; }

 private:
  static uint64_t rounded(uint64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }
  void insert(uint64_t offset, uint64_t bytes);
  std::map<uint64_t, uint64_t> by_offset_;     // offset -> bytes
  std::multimap<uint64_t, uint64_t> by_size_;  // bytes -> offset
  uint64_t size_ = 0;
};

}  // namespace ferrule
