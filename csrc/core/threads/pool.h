// The thread pool of the process.
#pragma once

#include "core/cancel.h"
#include "core/error.h"

#include <ferrule/backend.h>

#include <cstdint>
#include <utility>

namespace ferrule {

// Runs fn over [0, n) in ranges whose bounds are multiples of `grain` (the last one ends at n), on the pool and the
// calling thread, with at most `limit` threads (0 = all). `thread` differs among the ranges of a call that run at the
// same time, and is below the number of participating threads. Returns the first error; ranges that have not begun by
// then are skipped. A call from inside a range, or while another thread's call uses the pool, runs serially.
fe_error* parallel_for(int64_t n, int64_t grain, uint32_t limit, fe_range_function fn, void* argument) noexcept;

// During its lifetime, each parallel_for that its thread calls ends with the error `cancelled` soon after `cancel`
// wants it: the calling thread asks between ranges, which take about 20 ms at most if a grain does.
class Cancellable {
 public:
  explicit Cancellable(const Cancel& cancel) noexcept;
  ~Cancellable();
  Cancellable(const Cancellable&) = delete;
  Cancellable& operator=(const Cancellable&) = delete;

 private:
  const Cancel* const outer_;
};

// parallel_for() for function(begin, end, thread), which may throw. Throws the first error.
template <class Function>
void parallel_for(int64_t n, int64_t grain, uint32_t limit, Function&& function) {
  using Plain = std::remove_reference_t<Function>;
  check(parallel_for(
      n, grain, limit,
      [](void* argument, int64_t begin, int64_t end, uint32_t thread) -> fe_error* {
        return guarded([&] { (*static_cast<Plain*>(argument))(begin, end, thread); });
      },
      const_cast<void*>(static_cast<const void*>(&function))));
}

// The number of threads that a parallel_for may use, the calling one included: as set by set_thread_count, else
// FERRULE_THREADS, else the number of CPUs that this process may run on.
uint32_t thread_count() noexcept;
// 0 restores the default. Throws invalid_argument above 1024, or inside a parallel_for. Waits for a running
// parallel_for.
void set_thread_count(uint32_t count);
// Ends and joins the workers; the next parallel_for starts them again.
void shutdown_threads() noexcept;

}  // namespace ferrule
