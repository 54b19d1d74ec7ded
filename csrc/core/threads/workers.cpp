#include "core/threads/workers.h"

#include <chrono>

#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>
#endif

namespace ferrule {
namespace {

// Longer than the serial part between two small nodes of a graph, and too short to be noticed.
constexpr std::chrono::microseconds spin_time{40};

void pause() noexcept {
#if defined(__x86_64__) || defined(_M_X64)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Spins until the condition holds and returns true; false after spin_time.
template <class Condition>
bool spin_until(Condition condition) noexcept {
  const auto deadline = std::chrono::steady_clock::now() + spin_time;
  do {
    for (int i = 0; i < 32; ++i) {
      if (condition()) return true;
      pause();
    }
  } while (std::chrono::steady_clock::now() < deadline);
  return false;
}

}  // namespace

Workers::Workers(uint32_t count, bool spin) : spin_(spin) {
  threads_.reserve(count);
  try {
    for (uint32_t i = 0; i < count; ++i) threads_.emplace_back([this] { serve(); });
  } catch (...) {
    // Continue with the threads that the system provided: the caller works in any case.
  }
}

Workers::~Workers() {
  end_.store(true, std::memory_order_relaxed);
  calls_.fetch_add(1, std::memory_order_release);
  calls_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Workers::begin(Job& job, uint32_t helpers) noexcept {
  job_ = &job;
  gate_.store(open, std::memory_order_release);
  calls_.fetch_add(1, std::memory_order_release);
  if (helpers >= count()) {
    calls_.notify_all();
  } else {
    for (uint32_t i = 0; i < helpers; ++i) calls_.notify_one();
  }
}

void Workers::end() noexcept {
  uint32_t inside = gate_.fetch_and(~open, std::memory_order_acquire) & ~open;
  const auto is_empty = [&] { return (inside = gate_.load(std::memory_order_acquire)) == 0; };
  if (inside == 0 || (spin_ && spin_until(is_empty))) return;
  while (!is_empty()) gate_.wait(inside, std::memory_order_acquire);
}

void Workers::serve() noexcept {
  for (uint32_t call = 0;;) {
    call = next_call(call);
    if (end_.load(std::memory_order_relaxed)) return;
    if (!enter()) continue;
    job_->work();
    leave();
  }
}

uint32_t Workers::next_call(uint32_t last) noexcept {
  uint32_t call = 0;
  const auto has_come = [&] { return (call = calls_.load(std::memory_order_acquire)) != last; };
  if (spin_ && spin_until(has_come)) return call;
  while (!has_come()) calls_.wait(last, std::memory_order_acquire);
  return call;
}

bool Workers::enter() noexcept {
  uint32_t gate = gate_.load(std::memory_order_relaxed);
  while ((gate & open) != 0)
    if (gate_.compare_exchange_weak(gate, gate + 1, std::memory_order_acquire, std::memory_order_relaxed)) return true;
  return false;
}

void Workers::leave() noexcept {
  // The last thread to leave a closed gate wakes the caller, which may be waiting.
  if (gate_.fetch_sub(1, std::memory_order_release) == 1) gate_.notify_one();
}

}  // namespace ferrule
