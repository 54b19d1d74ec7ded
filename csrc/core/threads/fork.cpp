#include "core/threads/fork.h"

#include <atomic>

#if !defined(_WIN32)
#include <pthread.h>
#endif

namespace ferrule {
namespace {

std::atomic<uint32_t> generation{0};

bool watch_forks() noexcept {
#if !defined(_WIN32)
  pthread_atfork(nullptr, nullptr, [] { generation.fetch_add(1, std::memory_order_relaxed); });
#endif
  return true;
}

}  // namespace

uint32_t fork_generation() noexcept {
  static const bool is_watching = watch_forks();
  static_cast<void>(is_watching);
  return generation.load(std::memory_order_relaxed);
}

}  // namespace ferrule
