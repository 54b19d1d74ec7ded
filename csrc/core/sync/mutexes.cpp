#include "core/sync/mutexes.h"

#include "core/sync/fork_generation.h"

#include <array>
#include <cstddef>
#include <cstdlib>
#include <mutex>

namespace ferrule {
namespace {

// Fewer than 64, the number of locks of one thread that ThreadSanitizer can track.
constexpr std::size_t lock_count = 32;

struct alignas(64) Lock {
  std::mutex mutex;
};
constinit std::array<Lock, lock_count> locks;

std::mutex& lock_of(const void* place) noexcept {
  const auto address = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(place));
  return locks[(address * 0x9e3779b97f4a7c15u) >> 59].mutex;
}
static_assert(lock_count == std::size_t{1} << (64 - 59));

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__) || !defined(NDEBUG)
// Nested BriefMutexes deadlock when their addresses map to the same lock. Test builds abort on any nesting.
thread_local bool is_inside = false;
void enter() noexcept {
  if (is_inside) std::abort();
  is_inside = true;
}
void leave() noexcept { is_inside = false; }
#else
void enter() noexcept {}
void leave() noexcept {}
#endif

std::atomic<uint32_t> threads_so_far{0};
uint32_t thread_ordinal() noexcept {
  thread_local const uint32_t number = threads_so_far.fetch_add(1, std::memory_order_relaxed) + 1;
  return number;
}

uint32_t thread_in(uint64_t holder) noexcept { return static_cast<uint32_t>(holder); }
uint32_t generation_in(uint64_t holder) noexcept { return static_cast<uint32_t>(holder >> 32); }

}  // namespace

void BriefMutex::lock() noexcept {
  enter();
  lock_of(this).lock();
}

void BriefMutex::unlock() noexcept {
  lock_of(this).unlock();
  leave();
}

void lock_brief_mutexes() noexcept {
  enter();
  for (Lock& lock : locks) lock.mutex.lock();
}

void unlock_brief_mutexes() noexcept {
  for (Lock& lock : locks) lock.mutex.unlock();
  leave();
}

void LongMutex::lock() noexcept {
  const uint32_t self = thread_ordinal();
  uint64_t holder = holder_.load(std::memory_order_relaxed);
  for (;;) {
    if (thread_in(holder) == self) break;
    // A holder of another generation is a thread that does not exist in this child of a fork.
    const uint32_t generation = fork_generation();
    if (thread_in(holder) != 0 && generation_in(holder) == generation) {
      holder_.wait(holder, std::memory_order_relaxed);
      holder = holder_.load(std::memory_order_relaxed);
      continue;
    }
    const uint64_t taken = uint64_t{generation} << 32 | self;
    if (!holder_.compare_exchange_weak(holder, taken, std::memory_order_acquire, std::memory_order_relaxed)) continue;
    depth_ = 0;
    break;
  }
  ++depth_;
}

void LongMutex::unlock() noexcept {
  if (--depth_ > 0) return;
  holder_.store(0, std::memory_order_release);
  holder_.notify_one();
}

}  // namespace ferrule
