// cp.async: copies from global to shared memory that a thread starts, commits in groups and waits for. PTX ISA 8.5,
// "cp.async".
//
// A GPU may write the shared memory at any time between the start and the wait. Here it holds 0xff (NaN) from the start
// on and the data only from the wait on, so two faults show: reading before the wait, and starting a copy into memory
// that other threads still read.
#pragma once

#include <cstdint>
#include <cstring>
#include <source_location>
#include <string>

#include "emulation/block.h"

namespace emulation {

// Starts a copy of `source_bytes` bytes; the rest of the 16 bytes becomes zero. Both addresses are multiples of 16. If
// `source_bytes` is 0, `global` is not read.
inline void cp_async_16(void* shared, const void* global, unsigned source_bytes = 16,
                        std::source_location at = std::source_location::current()) {
  const Site site{"cp.async", at};
  if (reinterpret_cast<std::uintptr_t>(shared) % 16 != 0 ||
      (source_bytes > 0 && reinterpret_cast<std::uintptr_t>(global) % 16 != 0))
    current_block->fail(site, "an address that is not a multiple of 16");
  if (source_bytes > 16) current_block->fail(site, std::to_string(source_bytes) + " bytes, and 16 are the most");
  if (!current_block->is_shared(shared, 16)) current_block->fail(site, "the target is not in shared memory");
  AsyncCopy copy{};
  copy.to = shared;
  if (source_bytes > 0) std::memcpy(copy.bytes.data(), global, source_bytes);
  std::memset(shared, 0xff, copy.bytes.size());
  current_thread->copies.push_back(copy);
}

// Makes one group of the copies since the last commit.
inline void cp_async_commit() { current_thread->copy_groups.push_back(current_thread->copies.size()); }

// Waits until at most `newest` of the thread's groups are left, those committed last. Only the own copies of the thread
// are waited for: a barrier must follow before others read them.
template <unsigned newest>
void cp_async_wait() {
  GpuThread& self = *current_thread;
  if (self.copy_groups.size() <= newest) return;
  const std::size_t groups = self.copy_groups.size() - newest, copies = self.copy_groups[groups - 1];
  for (std::size_t i = 0; i < copies; ++i) std::memcpy(self.copies[i].to, self.copies[i].bytes.data(), 16);
  self.copies.erase(self.copies.begin(), self.copies.begin() + static_cast<std::ptrdiff_t>(copies));
  self.copy_groups.erase(self.copy_groups.begin(), self.copy_groups.begin() + static_cast<std::ptrdiff_t>(groups));
  for (std::size_t& end : self.copy_groups) end -= copies;
}

}  // namespace emulation
