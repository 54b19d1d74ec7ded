#include "core/sync/fork.h"

#include "core/sync/mutexes.h"

#include <atomic>
#include <chrono>
#include <thread>

#if !defined(_WIN32)
#include <pthread.h>
#endif

namespace ferrule {
namespace {

std::atomic<uint32_t> generation{0};

constinit BriefMutex holding;  // of what follows
constinit uint32_t holders = 0;
constinit uint32_t waiting_forks = 0;  // while there is one, nobody else begins to hold
thread_local uint32_t held_here = 0;

#if !defined(_WIN32)
// The forking thread may itself be inside: a module's init that forks does not wait for itself.
void prepare() {
  constexpr std::chrono::seconds longest{2};
  const auto deadline = std::chrono::steady_clock::now() + longest;
  lock_brief_mutexes();
  for (++waiting_forks;; lock_brief_mutexes()) {
    if (holders == held_here || std::chrono::steady_clock::now() > deadline) return;
    unlock_brief_mutexes();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void resume_parent() {
  --waiting_forks;
  unlock_brief_mutexes();
}

void begin_child() {
  generation.fetch_add(1, std::memory_order_relaxed);
  holders = held_here;
  waiting_forks = 0;
  unlock_brief_mutexes();
}

// Before main, or while libferrule is opened: no thread can have come before it.
[[maybe_unused]] const bool is_watching = pthread_atfork(prepare, resume_parent, begin_child) == 0;
#endif

}  // namespace

uint32_t fork_generation() noexcept { return generation.load(std::memory_order_relaxed); }

HoldsForks::HoldsForks() noexcept {
  for (holding.lock(); waiting_forks > 0 && held_here == 0; holding.lock()) {
    holding.unlock();
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  ++holders;
  ++held_here;
  holding.unlock();
}

HoldsForks::~HoldsForks() {
  holding.lock();
  --holders;
  --held_here;
  holding.unlock();
}

}  // namespace ferrule
