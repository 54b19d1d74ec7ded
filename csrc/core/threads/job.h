// One parallel_for in progress: the ranges left, the participating threads, the first error. If the caller may cancel
// it, it asks between its ranges, and ranges are sized by the time that earlier ones took.
#pragma once

#include "core/cancel.h"
#include "core/error.h"

#include <ferrule/backend.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>

namespace ferrule {

struct Range {
  int64_t begin = 0, end = 0;
  bool empty() const { return begin == end; }
};

class Job {
 public:
  // Call it before any thread takes part. `cancel` is null, or lives until all threads have left.
  void reset(int64_t n, int64_t grain, uint32_t participants, fe_range_function fn, void* argument,
             const Cancel* cancel) noexcept {
    n_ = n;
    grain_ = grain;
    grains_ = n / grain + (n % grain != 0);
    participants_ = participants;
    fn_ = fn;
    argument_ = argument;
    cancel_ = cancel;
    taken_.store(0, std::memory_order_relaxed);
    tickets_.store(1, std::memory_order_relaxed);
    error_.store(nullptr, std::memory_order_relaxed);
  }

  // Takes part as the thread that called parallel_for, until no range is left. `ask` tells whether it is cancelled.
  template <class Ask>
  void work_as_caller(Ask ask) noexcept {
    work_as(0, [&] {
      if (ask(*cancel_)) fail(make_error(FE_CANCELLED, "the computation was cancelled"));
    });
  }
  // Takes part as another thread.
  void work() noexcept {
    const uint32_t thread = tickets_.fetch_add(1, std::memory_order_relaxed);
    if (thread < participants_) work_as(thread, [] {});
  }

  // The first error. The caller takes it after all threads have left.
  fe_error* error() const noexcept { return error_.load(std::memory_order_relaxed); }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds longest_range{20};
  static constexpr int64_t most_growth = 16;  // from a range to the next: the first grains may be quicker than others

  template <class Ask>
  void work_as(uint32_t thread, Ask ask) noexcept {
    int64_t most = cancel_ != nullptr ? 1 : std::numeric_limits<int64_t>::max();
    for (Range range = take(most); !range.empty(); range = take(most)) {
      const bool is_timed = cancel_ != nullptr && taken_.load(std::memory_order_relaxed) < grains_;
      const Clock::time_point begun = is_timed ? Clock::now() : Clock::time_point();
      if (fe_error* error = fn_(argument_, range.begin, range.end, thread)) fail(error);
      if (!is_timed) continue;
      const int64_t grains = std::min((range.end - range.begin) / grain_, grains_ / most_growth);
      const auto growth = longest_range / std::max(Clock::now() - begun, Clock::duration(1));
      most = std::max<int64_t>(1, grains * std::min<int64_t>(growth, most_growth));
      ask();
    }
  }

  // Hands out large ranges first and single grains last: few hand-outs, and threads that end at about the same time.
  Range take(int64_t most) noexcept {
    int64_t first = taken_.load(std::memory_order_relaxed);
    int64_t count = 0;
    do {
      if (first >= grains_) return {};
      const int64_t parts = participants_ > 1 ? 2 * static_cast<int64_t>(participants_) : 1;
      count = std::clamp<int64_t>((grains_ - first) / parts, 1, most);
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
  const Cancel* cancel_ = nullptr;
  alignas(64) std::atomic<int64_t> taken_{0};
  std::atomic<uint32_t> tickets_{0};
  std::atomic<fe_error*> error_{nullptr};
};

}  // namespace ferrule
