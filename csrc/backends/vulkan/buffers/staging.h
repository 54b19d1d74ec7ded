// Memory that host and device can access, for copies between their memories. It has two pieces, so that the host fills
// or empties one while the device copies the other.
#pragma once

#include "buffers/device_memory.h"

namespace ferrule::vulkan {

class Staging {
 public:
  static constexpr uint64_t piece_size = uint64_t{16} << 20;

  Staging(Memory& memory, Use use) : memory_(memory), use_(use) {}

  struct Piece {
    std::shared_ptr<Allocation> memory;  // shared with the device's work
    uint64_t last_use = 0;
  };
  // The piece whose last use ends first, of at least `size` bytes. The caller must wait for its last use.
  Piece& next(uint64_t size) {
    Piece& piece = pieces_[turn_ ^= 1];
    if (!piece.memory || piece.memory->size < size) {
      piece.memory.reset();
      piece.memory = std::make_shared<Allocation>(memory_.allocate(rounded(size), 256, use_));
    }
    return piece;
  }

 private:
  // Rounds up, so that slightly larger copies do not need a new piece.
  static uint64_t rounded(uint64_t size) { return size <= (uint64_t{1} << 20) ? uint64_t{1} << 20 : piece_size; }

  Memory& memory_;
  Use use_;
  std::array<Piece, 2> pieces_;
  size_t turn_ = 0;
};

}  // namespace ferrule::vulkan
