#include "core/trace/trace_event.h"

#include "core/sync/fork_generation.h"

#include <chrono>
#include <utility>

#if defined(_WIN32)
#include <windows.h>
#elif defined(__APPLE__)
#include <pthread.h>
#else
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace ferrule {
namespace {

uint64_t asked_thread_number() noexcept {
#if defined(_WIN32)
  return GetCurrentThreadId();
#elif defined(__APPLE__)
  uint64_t number = 0;
  pthread_threadid_np(nullptr, &number);
  return number;
#else
  return static_cast<uint64_t>(syscall(SYS_gettid));
#endif
}

}  // namespace

uint64_t monotonic_ns() noexcept {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

uint64_t thread_number() noexcept {
  thread_local uint64_t number = 0;
  thread_local uint32_t generation = 0;
  if (number == 0 || std::exchange(generation, fork_generation()) != fork_generation()) number = asked_thread_number();
  return number;
}

}  // namespace ferrule
