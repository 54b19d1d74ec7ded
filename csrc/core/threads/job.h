// One parallel_for in progress: the ranges left, the participating threads, the first error.
#pragma once

#include "core/error.h"

#include <ferrule/backend.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace ferrule {

struct Range {
  int64_t begin = 0, end = 0;
  bool empty() const { return begin == end; }
};

class Job {
 public:
  // Call it before any thread takes part.
  void reset(int64_t n, int64_t grain, uint32_t participants, fe_range_function fn, void* argument) noexcept {
    n_ = n;
    grain_ = grain;
    grains_ = n / grain + (n % grain != 0);
    participants_ = participants;
    fn_ = fn;
    argument_ = argument;
    taken_.store(0, std::memory_order_relaxed);
    tickets_.store(0, std::memory_order_relaxed);
    error_.store(nullptr, std::memory_order_relaxed);
  }

  // Takes part until no range is left.
  void work() noexcept {
    const uint32_t thread = tickets_.fetch_add(1, std::memory_order_relaxed);
    if (thread >= participants_) return;
    for (Range range = take(); !range.empty(); range = take())
      if (fe_error* error = fn_(argument_, range.begin, range.end, thread)) fail(error);
  }

  // The first error. Call it after all threads have left.
  fe_error* error() const noexcept { return error_.load(std::memory_order_relaxed); }

 private:
  // Hands out large ranges first and single grains last: few hand-outs, and threads that end at about the same time.
  Range take() noexcept {
    int64_t first = taken_.load(std::memory_order_relaxed);
    int64_t count = 0;
    do {
      if (first >= grains_) return {};
      count = std::max<int64_t>(1, (grains_ - first) / (2 * static_cast<int64_t>(participants_)));
    } while (!taken_.compare_exchange_weak(first, first + count, std::memory_order_relaxed));
    return {first * grain_, first + count >= grains_ ? n_ : (first + count) * grain_};
  }

  void fail(fe_error* error) noexcept {
    taken_.store(grains_, std::memory_order_relaxed);
    fe_error* none = nullptr;
    if (!error_.compare_exchange_strong(none, error, std::memory_order_relaxed)) release(error);
  }

  int64_t n_ = 0, grain_ = 1, grains_ = 0;
  uint32_t participants_ = 1;
  fe_range_function fn_ = nullptr;
  void* argument_ = nullptr;
  alignas(64) std::atomic<int64_t> taken_{0};
  std::atomic<uint32_t> tickets_{0};
  std::atomic<fe_error*> error_{nullptr};
};

}  // namespace ferrule
