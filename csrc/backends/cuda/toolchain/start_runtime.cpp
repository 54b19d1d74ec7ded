#include "toolchain/start_runtime.h"

using Initialiser = void (*)(int, char**, char**);

// Defined by runtime.ld; null where the runtime is not libcudart_static.a (the emulator's).
extern "C" {
extern const Initialiser ferrule_cuda_runtime_begin[] __attribute__((weak, visibility("hidden")));
extern const Initialiser ferrule_cuda_runtime_end[] __attribute__((weak, visibility("hidden")));
}

namespace ferrule::cuda {

void start_runtime() {
  static const bool started = [] {
    for (const Initialiser* entry = ferrule_cuda_runtime_begin; entry != ferrule_cuda_runtime_end; ++entry)
      (*entry)(0, nullptr, nullptr);
    return true;
  }();
  static_cast<void>(started);
}

}  // namespace ferrule::cuda
