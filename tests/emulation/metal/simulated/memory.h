// Memory of buffers. It ends at a page that nobody may use, and is unusable for a while after it was freed, so that
// kernels and programs that use too much of it, or use it too late, get a SIGSEGV.
#pragma once

#include <cstddef>

namespace simulated {

class GuardedMemory {
 public:
  // Filled with 0xff. Throws std::bad_alloc.
  explicit GuardedMemory(std::size_t bytes);
  // Reports a fault if bytes around the memory were written.
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  std::byte* begin() const { return begin_; }

 private:
  std::size_t bytes_, mapped_;
  std::byte *map_, *begin_;
};

}  // namespace simulated
