#include "core/sync/fork.h"

#include "core/sync/fork_generation.h"
#include "core/sync/mutexes.h"

#include <chrono>
#include <cstdint>
#include <thread>

#if !defined(_WIN32)
#include <pthread.h>
#endif

namespace ferrule {
namespace {

constinit BriefMutex holding;  // guards the two variables below
constinit uint32_t holders = 0;
constinit uint32_t waiting_forks = 0;  // while above 0, no further thread becomes a holder
thread_local uint32_t held_here = 0;

#if !defined(_WIN32)
// The forking thread may be a holder itself, in a module's init that forks; the fork does not wait for it.
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
  begin_fork_generation();
  holders = held_here;
  waiting_forks = 0;
  unlock_brief_mutexes();
}

// Runs before main, or while libferrule is opened, so before any thread uses the library.
[[maybe_unused]] const bool is_watching = pthread_atfork(prepare, resume_parent, begin_child) == 0;
#endif

}  // namespace

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
