// The data that the emulator passes to a kernel: addresses of its arguments, the positions of a thread, and the
// functions that meet other threads.
#pragma once

#include <array>
#include <cstdint>

#include "metal/library/host.h"
#include "metal/msl_library.h"

namespace emulation::metal {

const ferrule_host& host();

// The arguments of a dispatch.
class CallTable {
 public:
  explicit CallTable(const Dispatch& dispatch);
  const std::array<std::uint64_t, most_bindings>& buffers() const { return buffers_; }
  bool flushes() const { return flushes_; }

 private:
  std::array<std::uint64_t, most_bindings> buffers_{};
  bool flushes_;  // subnormal float32 numbers are zero
};

// The same as ferrule_call of msl/ferrule/entries.h.
struct KernelCallData {
  struct Position {
    std::uint32_t x, y, z;
  };
  const std::uint64_t* buffers;  // by index
  Position thread_position_in_grid, threadgroup_position_in_grid, thread_position_in_threadgroup,
      threads_per_threadgroup, threadgroups_per_grid, threads_per_grid;
  std::uint32_t thread_index_in_threadgroup, thread_index_in_simdgroup, simdgroup_index_in_threadgroup,
      simdgroups_per_threadgroup, threads_per_simdgroup;
};

// The call of a kernel for the current thread.
class KernelCall {
 public:
  explicit KernelCall(const CallTable& table);
  ~KernelCall();
  KernelCall(const KernelCall&) = delete;
  KernelCall& operator=(const KernelCall&) = delete;
  const KernelCallData& data() const { return data_; }

 private:
  KernelCallData data_;
  const bool flushes_;
  unsigned control_ = 0;  // of floating-point numbers, before the call
};

}  // namespace emulation::metal
