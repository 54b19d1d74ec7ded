// Tests of sdk::IdleCache: which entries it keeps, and which it makes again.
#include <ferrule/cpp/idle_cache.hpp>
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

using Cache = ferrule::sdk::IdleCache<std::string>;

// The entry of a key. `made` counts how often something was made.
Cache::Pointer get(Cache& cache, const std::string& key, std::atomic<int>& made) {
  return cache.get(key, [&] {
    ++made;
    return std::make_shared<const std::string>("made from " + key);
  });
}

TEST(IdleCache, MakesAnEntryOnce) {
  Cache cache(2);
  std::atomic<int> made = 0;
  const Cache::Pointer first = get(cache, "a", made), second = get(cache, "a", made);
  EXPECT_EQ(first, second);
  EXPECT_EQ(*first, "made from a");
  EXPECT_EQ(made, 1);
}

TEST(IdleCache, KeepsTheMostRecentlyUsedIdleEntries) {
  Cache cache(2);
  std::atomic<int> made = 0;
  get(cache, "a", made);
  get(cache, "b", made);
  get(cache, "a", made);  // b is now the oldest
  get(cache, "c", made);
  get(cache, "d", made);  // the entry that is being handed out is not idle
  EXPECT_EQ(cache.count(), 3u);
  EXPECT_EQ(made, 4);
  get(cache, "c", made);
  get(cache, "a", made);
  EXPECT_EQ(made, 4);
  get(cache, "b", made);
  EXPECT_EQ(made, 5);
}

TEST(IdleCache, KeepsWhatSomethingUses) {
  Cache cache(0);
  std::atomic<int> made = 0;
  std::vector<Cache::Pointer> used;
  used.reserve(3);
  for (const char* key : {"a", "b", "c"}) used.push_back(get(cache, key, made));
  get(cache, "d", made);
  EXPECT_EQ(cache.count(), 4u);
  for (const char* key : {"a", "b", "c"}) get(cache, key, made);
  EXPECT_EQ(made, 4);
  used.clear();
  const Cache::Pointer last = get(cache, "e", made);
  EXPECT_EQ(cache.count(), 1u);
  cache.clear();
  EXPECT_EQ(cache.count(), 0u);
  EXPECT_EQ(*last, "made from e");
}

TEST(IdleCache, AFailureLeavesNoEntry) {
  Cache cache(2);
  const auto fail = []() -> Cache::Pointer { throw std::runtime_error("does not compile"); };
  EXPECT_THROW(cache.get("a", fail), std::runtime_error);
  EXPECT_EQ(cache.count(), 0u);
  std::atomic<int> made = 0;
  EXPECT_EQ(*get(cache, "a", made), "made from a");
}

TEST(IdleCache, ThreadsThatRaceGetOneEntry) {
  Cache cache(4);
  std::atomic<int> made = 0, inside = 0;
  std::vector<Cache::Pointer> got(4);
  std::vector<std::thread> threads;
  threads.reserve(got.size());
  for (size_t i = 0; i < got.size(); ++i)
    threads.emplace_back([&, i] {
      got[i] = cache.get("a", [&] {
        ++made;
        for (++inside; inside < 4;) std::this_thread::yield();  // all make one, without the lock
        return std::make_shared<const std::string>("made");
      });
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 4);
  for (const Cache::Pointer& one : got) EXPECT_EQ(one, got[0]);
  EXPECT_EQ(cache.count(), 1u);
}

TEST(IdleCacheThreads, UseAndEvictAtOnce) {
  Cache cache(3);
  std::atomic<int> made = 0;
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int number = 0; number < 4; ++number)
    threads.emplace_back([&, number] {
      for (int turn = 0; turn < 2000; ++turn) {
        const std::string key(1, static_cast<char>('a' + (turn * (number + 1)) % 11));
        EXPECT_EQ(*get(cache, key, made), "made from " + key);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(cache.count(), 3u + 4u);
}

}  // namespace
