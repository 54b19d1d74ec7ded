#include "cuda/runtime/process_state.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <new>

namespace emulation {
namespace {

// Names the mapping that has the state, by which the other copies find it. The number is that of the layout.
constexpr char mapping_name[] = "ferrule-emulation-2";

ProcessState* find_state() {
  std::FILE* const maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr) return nullptr;
  char line[4352];
  void* found = nullptr;
  while (found == nullptr && std::fgets(line, sizeof line, maps) != nullptr)
    if (std::strstr(line, mapping_name) != nullptr && std::sscanf(line, "%p-", &found) != 1) found = nullptr;
  std::fclose(maps);
  return static_cast<ProcessState*>(found);
}

// A child of a fork gets its own, with the same content.
ProcessState* make_state() {
  const int file = ::memfd_create(mapping_name, MFD_CLOEXEC);
  void* memory = MAP_FAILED;
  if (file >= 0 && ::ftruncate(file, sizeof(ProcessState)) == 0)
    memory = ::mmap(nullptr, sizeof(ProcessState), PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
  if (file >= 0) ::close(file);
  auto* const made = memory == MAP_FAILED ? new ProcessState() : new (memory) ProcessState();
  ::pthread_key_create(&made->thread, nullptr);
  return made;
}

ProcessState* find_or_make_state() {
  ProcessState* state = nullptr;
  // The loader's lock, which the call holds, is one for all copies.
  ::dl_iterate_phdr(
      [](dl_phdr_info*, std::size_t, void* out) {
        ProcessState* const known = find_state();
        *static_cast<ProcessState**>(out) = known != nullptr ? known : make_state();
        return 1;
      },
      &state);
  return state;
}

constexpr unsigned mode_bits = 2, device_bits = 6;  // the device is stored plus 1

}  // namespace

ProcessState& process_state() {
  static ProcessState& state = *find_or_make_state();
  return state;
}

// Stored in the pointer itself, so that nothing has to be freed when a thread ends.
ThreadState thread_state() {
  const auto bits = reinterpret_cast<std::uintptr_t>(::pthread_getspecific(process_state().thread));
  return {static_cast<int>(bits >> mode_bits & ((1U << device_bits) - 1)) - 1,
          static_cast<cudaStreamCaptureMode>(bits & ((1U << mode_bits) - 1)),
          static_cast<int>(bits >> (mode_bits + device_bits))};
}

void set_thread_state(const ThreadState& state) {
  const std::uintptr_t bits = static_cast<std::uintptr_t>(state.mode) |
                              static_cast<std::uintptr_t>(state.device + 1) << mode_bits |
                              static_cast<std::uintptr_t>(state.captures) << (mode_bits + device_bits);
  ::pthread_setspecific(process_state().thread, reinterpret_cast<void*>(bits));
}

bool is_forbidden_by_capture() {
  const ThreadState own = thread_state();
  const bool by_others = own.mode == cudaStreamCaptureModeGlobal && process_state().captures > 0;
  if (own.mode == cudaStreamCaptureModeRelaxed || (own.captures == 0 && !by_others)) return false;
  ++process_state().ends;
  return true;
}

}  // namespace emulation
