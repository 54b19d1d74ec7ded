#include "core/threads/pool.h"

#include "core/environment.h"
#include "core/sync/fork_generation.h"
#include "core/threads/workers.h"
#include "core/warn_once.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#if defined(__linux__)
#include <sched.h>
#endif

namespace ferrule {
namespace {

constexpr uint32_t max_threads = 1024;

// The number of CPUs that this process may run on, at least 1.
uint32_t available_cpus() noexcept {
  const uint32_t all = std::max(1u, std::thread::hardware_concurrency());
#if defined(__linux__)
  // Fails on machines with more CPUs than a cpu_set_t has bits; there the number of all CPUs is used.
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
    return std::clamp(static_cast<uint32_t>(CPU_COUNT(&allowed)), 1u, all);
#endif
  return all;
}

uint32_t default_count() {
  const uint32_t cpus = available_cpus();
  const auto text = environment("FERRULE_THREADS");
  if (!text) return cpus;
  uint32_t count = 0;
  const auto [end, problem] = std::from_chars(text->data(), text->data() + text->size(), count);
  if (problem == std::errc() && end == text->data() + text->size() && count >= 1 && count <= max_threads) return count;
  warn_of_variable("FERRULE_THREADS", *text, fmt::format("a number from 1 to {}", max_threads), std::to_string(cpus));
  return cpus;
}

// Set by set_thread_count; 0 = the default.
std::atomic<uint32_t> wanted_count{0};

thread_local uint32_t depth = 0;  // number of nested ranges that this thread is in
thread_local uint32_t current_thread = 0;
thread_local const Cancel* current_cancel = nullptr;
thread_local const Job* current_job = nullptr;  // that it is in a range of

struct Pool {
  explicit Pool(uint32_t fork_generation) : generation(fork_generation) {}
  const uint32_t generation;
  std::mutex mutex;  // held by the call that uses the workers
  std::unique_ptr<Workers> workers;
  uint32_t size = 0;  // requested number of threads; the system may have provided fewer
  Job job;
};

std::atomic<Pool*> current{nullptr};

// The child of a fork has none of the threads, and the lock may be held: it abandons the pool and makes its own.
Pool& pool() {
  Pool* existing = current.load(std::memory_order_acquire);
  const uint32_t generation = fork_generation();
  if (existing != nullptr && existing->generation == generation) return *existing;
  auto made = std::make_unique<Pool>(generation);
  if (!current.compare_exchange_strong(existing, made.get(), std::memory_order_acq_rel)) return *existing;
  return *made.release();
}

// Marks the calling thread as inside a range of a job, with its number there, while the range function runs.
struct Inside {
  explicit Inside(uint32_t thread, const Job* job = current_job)
      : outer_thread(current_thread), outer_job(current_job) {
    ++depth;
    current_thread = thread;
    current_job = job;
  }
  ~Inside() {
    --depth;
    current_thread = outer_thread;
    current_job = outer_job;
  }
  uint32_t outer_thread;
  const Job* outer_job;
};

struct Call {
  fe_range_function fn;
  void* argument;
  const Job* job = current_job;
};

fe_error* run_range(void* argument, int64_t begin, int64_t end, uint32_t thread) {
  const Call& call = *static_cast<Call*>(argument);
  const Inside inside(thread, call.job);
  return call.fn(call.argument, begin, end, thread);
}

// Whether the caller wants to cancel. What it runs to find out, such as a Python signal handler, counts as inside a
// range: it must not use the pool, which is busy.
bool is_cancelled(const Cancel& cancel) {
  const Inside inside(current_thread);
  const Cancel* const asked = std::exchange(current_cancel, nullptr);  // that must not be asked again
  const bool is_wanted = cancel.is_wanted();
  current_cancel = asked;
  return is_wanted;
}

// Runs [0, n) as one range. A nested call keeps its thread's number, which no other running range has.
fe_error* run_serially(int64_t n, Call& call) { return run_range(&call, 0, n, depth > 0 ? current_thread : 0); }

// A call inside a range ends, too, when another range of the outer call has failed.
fe_error* run_alone(int64_t n, int64_t grain, Call& call) {
  if (current_job != nullptr && current_job->error() != nullptr)
    return make_error(FE_CANCELLED, "the computation was cancelled");
  if (current_cancel == nullptr || n <= grain) return run_serially(n, call);
  Job job;
  job.reset(n, grain, 1, run_range, &call, current_cancel);
  job.work_as_caller(is_cancelled);
  return job.error();
}

#if !defined(_WIN32)
// Joins the threads when libferrule is closed, because they must not outlive the code that they run. A busy pool is
// left alone, so that the end of the process never waits for it.
struct JoinAtUnload {
  ~JoinAtUnload() {
    Pool* existing = current.load(std::memory_order_acquire);
    if (existing == nullptr || existing->generation != fork_generation()) return;
    const std::unique_lock lock(existing->mutex, std::try_to_lock);
    if (lock.owns_lock()) existing->workers.reset();
  }
};
const JoinAtUnload join_at_unload;
#endif

}  // namespace

fe_error* parallel_for(int64_t n, int64_t grain, uint32_t limit, fe_range_function fn, void* argument) noexcept {
  if (fn == nullptr) return make_error(FE_INVALID_ARGUMENT, "parallel_for: the function is null");
  if (n <= 0) return nullptr;
  if (grain < 1) grain = 1;
  Call call{fn, argument};
  const int64_t grains = n / grain + (n % grain != 0);
  uint32_t participants = limit == 0 ? thread_count() : std::min(limit, thread_count());
  if (grains < participants) participants = static_cast<uint32_t>(grains);
  if (participants == 1 || depth > 0) return run_alone(n, grain, call);

  try {
    Pool& shared = pool();
    const std::unique_lock lock(shared.mutex, std::try_to_lock);
    if (!lock.owns_lock()) return run_alone(n, grain, call);
    const uint32_t count = thread_count();
    if (!shared.workers || shared.size != count) {
      shared.workers = std::make_unique<Workers>(count - 1, count <= available_cpus());
      shared.size = count;
    }
    call.job = &shared.job;
    shared.job.reset(n, grain, participants, run_range, &call, current_cancel);
    shared.workers->run(shared.job, participants - 1, [&] { shared.job.work_as_caller(is_cancelled); });
    return shared.job.error();
  } catch (...) {
    return run_alone(n, grain, call);  // out of memory for threads: nothing has run yet
  }
}

Cancellable::Cancellable(const Cancel& cancel) noexcept : outer_(current_cancel) {
  current_cancel = cancel.function != nullptr ? &cancel : nullptr;
}
Cancellable::~Cancellable() { current_cancel = outer_; }

uint32_t thread_count() noexcept {
  uint32_t count = wanted_count.load(std::memory_order_relaxed);
  if (count != 0) return count;
  // Concurrent first calls may each compute the default, with the same result.
  static std::atomic<uint32_t> at_first{0};
  count = at_first.load(std::memory_order_relaxed);
  if (count != 0) return count;
  try {
    count = default_count();
  } catch (...) {
    count = 1;
  }
  at_first.store(count, std::memory_order_relaxed);
  return count;
}

void set_thread_count(uint32_t count) {
  if (count > max_threads) fail_argument("set_thread_count: {} is more than {}", count, max_threads);
  if (depth > 0) fail_argument("set_thread_count: called from inside a parallel_for");
  Pool& shared = pool();
  const std::scoped_lock lock(shared.mutex);
  wanted_count.store(count, std::memory_order_relaxed);
  shared.workers.reset();
}

void shutdown_threads() noexcept {
  if (depth > 0 || current.load(std::memory_order_acquire) == nullptr) return;
  Pool& shared = pool();
  const std::scoped_lock lock(shared.mutex);
  shared.workers.reset();
}

}  // namespace ferrule
