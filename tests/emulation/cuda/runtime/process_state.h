// State that all copies of the runtime in a process share, as they share NVIDIA's driver: the current context of a
// thread, captures of streams, and memory of the host that devices reach. A module and another library have a copy of
// the runtime each.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>

#include "cuda_runtime_api.h"
#include "cuda/runtime/settings.h"

namespace emulation {

struct HostRange {
  std::size_t bytes = 0;
  int device = 0;  // that was current
  bool is_registered = false;
};

struct ProcessState {
  pthread_key_t thread = 0;             // of each thread, a ThreadState as a pointer
  std::atomic<int> captures = 0;        // in the global mode
  std::atomic<std::uint64_t> ends = 0;  // how often a call has ended them
  char contexts[most_devices] = {};     // the address of one is the CUcontext of the device's primary context
  std::mutex host_mutex;                // guards the ranges
  std::map<std::uintptr_t, HostRange> host_ranges = {};  // registered or allocated, by their first bytes
};
ProcessState& process_state();

struct ThreadState {
  int device = -1;  // of the current context; -1 if there is none
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  int captures = 0;  // that the thread has begun, but for relaxed ones
};
ThreadState thread_state();
void set_thread_state(const ThreadState& state);

// Whether a stream's capture forbids the calling thread a call that may be unsafe for it. Then it ends global captures.
bool is_forbidden_by_capture();

}  // namespace emulation
