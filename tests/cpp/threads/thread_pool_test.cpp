#include "core/threads/pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <set>
#include <thread>
#include <tuple>
#include <vector>

#if !defined(_WIN32)
#include <sys/wait.h>
#include <unistd.h>
#endif

namespace ferrule::test {
namespace {

// Sets the thread count for one test.
class Threads {
 public:
  explicit Threads(uint32_t count) { set_thread_count(count); }
  ~Threads() { set_thread_count(0); }
};

void expect_each_once(int64_t n, int64_t grain, uint32_t limit = 0) {
  std::vector<std::atomic<int>> visits(static_cast<std::size_t>(n));
  parallel_for(n, grain, limit, [&](int64_t begin, int64_t end, uint32_t) {
    EXPECT_EQ(begin % grain, 0);
    EXPECT_TRUE(end % grain == 0 || end == n);
    for (int64_t i = begin; i < end; ++i) visits[static_cast<std::size_t>(i)].fetch_add(1, std::memory_order_relaxed);
  });
  for (const auto& count : visits) ASSERT_EQ(count.load(), 1) << "n " << n << ", grain " << grain;
}

TEST(ThreadPool, VisitsEachIndexOnceInMultiplesOfTheGrain) {
  for (const uint32_t count : {1u, 2u, 4u, 7u}) {
    const Threads threads(count);
    for (const auto& [n, grain] : std::vector<std::pair<int64_t, int64_t>>{
             {1, 1}, {2, 1}, {1000, 1}, {1000, 7}, {1001, 64}, {5, 100}, {100000, 3}})
      for (const uint32_t limit : {0u, 1u, 2u, 100u}) expect_each_once(n, grain, limit);
  }
}

TEST(ThreadPool, EmptyAndInvalidRangesAreHarmless) {
  const auto never = [](void*, int64_t, int64_t, uint32_t) -> fe_error* { return ADD_FAILURE(), nullptr; };
  EXPECT_EQ(parallel_for(0, 1, 0, never, nullptr), nullptr);
  EXPECT_EQ(parallel_for(-5, 1, 0, never, nullptr), nullptr);
  const ErrorPointer error(parallel_for(1, 1, 0, nullptr, nullptr));
  EXPECT_EQ(code_of(error.get()), FE_INVALID_ARGUMENT);
  std::atomic<int64_t> sum{0};
  parallel_for(10, 0, 0, [&](int64_t begin, int64_t end, uint32_t) { sum += end - begin; });
  EXPECT_EQ(sum, 10);
  // Ranges near the limits of int64.
  std::atomic<int> calls{0};
  parallel_for(INT64_MAX, INT64_MAX / 4, 0, [&](int64_t begin, int64_t end, uint32_t) {
    EXPECT_LT(begin, end);
    ++calls;
  });
  EXPECT_GE(calls, 1);
}

TEST(ThreadPool, ThreadNumbersAreDistinctAndBelowTheLimit) {
  const Threads threads(6);
  EXPECT_EQ(thread_count(), 6u);
  for (const uint32_t limit : {0u, 2u, 3u, 100u}) {
    const uint32_t bound = limit == 0 ? 6 : std::min(limit, 6u);
    std::vector<std::atomic<bool>> busy(bound);
    for (int round = 0; round < 100; ++round)
      parallel_for(50, 1, limit, [&](int64_t, int64_t, uint32_t thread) {
        ASSERT_LT(thread, bound);
        EXPECT_FALSE(busy[thread].exchange(true));
        busy[thread].store(false);
      });
  }
}

TEST(ThreadPool, AllThreadsTakePart) {
  const Threads threads(4);
  std::mutex mutex;
  std::set<std::thread::id> seen;
  parallel_for(4, 1, 0, [&](int64_t, int64_t, uint32_t) {
    // Waits for the other threads.
    for (int i = 0; i < 60'000; ++i) {
      {
        const std::scoped_lock lock(mutex);
        seen.insert(std::this_thread::get_id());
        if (seen.size() == 4) return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  EXPECT_EQ(seen.size(), 4u);
  EXPECT_TRUE(seen.contains(std::this_thread::get_id()));
}

TEST(ThreadPool, FirstErrorEndsTheLoopAndReleasesTheOtherThreads) {
  const Threads threads(4);
  std::atomic<int64_t> ran{0};
  try {
    parallel_for(100000, 1, 0, [&](int64_t begin, int64_t, uint32_t) {
      ++ran;
      if (begin >= 10) throw Error(FE_CANCELLED, "enough");
    });
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), FE_CANCELLED);
    EXPECT_STREQ(error.what(), "enough");
  }
  EXPECT_LT(ran, 1000);
  expect_each_once(100, 1);
}

TEST(ThreadPool, NestedCallsRunOnTheCallingThread) {
  const Threads threads(4);
  std::atomic<int64_t> sum{0};
  parallel_for(20, 1, 0, [&](int64_t, int64_t, uint32_t outer) {
    EXPECT_THROW(set_thread_count(4), Error);
    const std::thread::id here = std::this_thread::get_id();
    parallel_for(10, 1, 0, [&](int64_t begin, int64_t end, uint32_t inner) {
      EXPECT_EQ(std::this_thread::get_id(), here);
      EXPECT_EQ(inner, outer);
      sum += end - begin;
    });
  });
  EXPECT_NO_THROW(set_thread_count(4));
  EXPECT_GT(sum, 0);
  EXPECT_EQ(sum % 10, 0);
}

TEST(ThreadPool, CallsFromSeveralThreadsVisitEveryIndex) {
  const Threads threads(3);
  std::vector<std::thread> callers;
  callers.reserve(6);
  for (int i = 0; i < 6; ++i)
    callers.emplace_back([] {
      for (int round = 0; round < 100; ++round) expect_each_once(300, 2);
    });
  for (std::thread& caller : callers) caller.join();
}

TEST(ThreadPool, ThreadCountMayChangeDuringOtherCalls) {
  std::atomic<bool> end{false};
  std::atomic<int> calls{0};
  std::thread caller([&] {
    for (; !end; ++calls) expect_each_once(100, 1);
  });
  for (uint32_t count = 1; count < 40 || calls < 40; ++count) set_thread_count(count % 5 + 1);
  end = true;
  caller.join();
  set_thread_count(0);
  EXPECT_THROW(set_thread_count(100000), Error);
  parallel_for(2, 1, 0, [](int64_t, int64_t, uint32_t) { EXPECT_THROW(set_thread_count(2), Error); });
}

TEST(ThreadPool, ManySmallCallsWithPausesVisitEveryIndex) {
  const Threads threads(4);
  for (int round = 0; round < 3000; ++round) {
    std::atomic<int> sum{0};
    parallel_for(8, 1, 0, [&](int64_t begin, int64_t end, uint32_t) { sum += static_cast<int>(end - begin); });
    ASSERT_EQ(sum, 8);
    // Occasionally long enough for the workers to fall asleep.
    if (round % 300 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

// A caller that wants to cancel after some milliseconds.
struct Deadline {
  std::chrono::steady_clock::time_point at;
  std::thread::id asked_on;
  static int has_passed(void* self) {
    auto& deadline = *static_cast<Deadline*>(self);
    EXPECT_TRUE(deadline.asked_on == std::thread::id() || deadline.asked_on == std::this_thread::get_id());
    deadline.asked_on = std::this_thread::get_id();
    return std::chrono::steady_clock::now() > deadline.at;
  }
};

// The error of a parallel_for of a day, cancelled after 50 ms.
template <class Range>
fe_code code_when_cancelled(Range range) {
  Deadline deadline{std::chrono::steady_clock::now() + std::chrono::milliseconds(50), {}};
  const Cancel cancel{Deadline::has_passed, &deadline};
  const Cancellable cancellable(cancel);
  try {
    parallel_for(86'400'000, 1, 0, range);
  } catch (const Error& error) {
    EXPECT_EQ(deadline.asked_on, std::this_thread::get_id());
    return error.code();
  }
  return FE_OK;
}

TEST(ThreadPool, CallerCancelsBetweenRangesOfMilliseconds) {
  for (const uint32_t count : {1u, 3u}) {
    const Threads threads(count);
    std::atomic<int64_t> longest{0};
    EXPECT_EQ(code_when_cancelled([&](int64_t begin, int64_t end, uint32_t) {
                longest = std::max(longest.load(), end - begin);
                std::this_thread::sleep_for(std::chrono::milliseconds(end - begin));
              }),
              FE_CANCELLED);
    EXPECT_LE(longest, 320);  // 20 of them take 20 ms, and a range is at most 16 times the one before
    expect_each_once(1000, 1);
  }
}

// A kernel's way to ask, inside one long range.
TEST(ThreadPool, CallInsideARangeIsCancelled) {
  for (const uint32_t count : {1u, 3u}) {
    const Threads threads(count);
    EXPECT_EQ(code_when_cancelled([&](int64_t, int64_t, uint32_t) {
                for (;;) {
                  parallel_for(2, 1, 1, [](int64_t, int64_t, uint32_t) {});
                  std::this_thread::sleep_for(std::chrono::milliseconds(1));
                }
              }),
              FE_CANCELLED);
  }
}

TEST(ThreadPool, CancelFunctionMayUseThePool) {
  const Threads threads(3);
  const auto ask = [](void* asked) {
    expect_each_once(1000, 1);
    return ++*static_cast<int*>(asked) > 3 ? 1 : 0;
  };
  int asked = 0;
  const Cancel cancel{ask, &asked};
  const Cancellable cancellable(cancel);
  EXPECT_THROW(parallel_for(1000, 1, 0,
                            [](int64_t begin, int64_t end, uint32_t) {
                              std::this_thread::sleep_for(std::chrono::milliseconds(end - begin));
                            }),
               Error);
  EXPECT_EQ(asked, 4);
}

TEST(ThreadPool, WorkersEndAndStartAgain) {
  const Threads threads(3);
  expect_each_once(100, 1);
  shutdown_threads();
  shutdown_threads();
  expect_each_once(100, 1);
}

// ThreadSanitizer does not support a fork in a multi-threaded process.
#if !defined(__SANITIZE_THREAD__) && !defined(_WIN32)
TEST(ThreadPool, ChildOfAForkHasItsOwnThreads) {
  const Threads threads(3);
  expect_each_once(1000, 1);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(20);  // a hang fails this test instead of stopping the run
    std::atomic<int64_t> sum{0};
    for (int i = 0; i < 100; ++i)
      parallel_for(100, 1, 0, [&](int64_t begin, int64_t end, uint32_t) { sum += end - begin; });
    _exit(sum == 10000 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  expect_each_once(1000, 1);
}
#endif

}  // namespace
}  // namespace ferrule::test
