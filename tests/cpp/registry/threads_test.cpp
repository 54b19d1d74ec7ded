// Sixteen threads load, unload, reload, query and refresh while others compute.
#include "core/sync/mutexes.h"
#include "lifecycle_fixture.h"

#include <atomic>
#include <mutex>

namespace ferrule::test {
namespace {

using RegistryThreads = LifecycleTest;

TEST_F(RegistryThreads, EveryKindOfLoadRunsWhileOtherThreadsCompute) {
  constexpr int rounds = 12;
  const auto device = cpu();
  const fs::path plain = put(root(), "t_plain"), watched = put(root(), "t_watching");
  put_with_manifest(root("more"), "t_named", {});
  const Variable where("FERRULE_BACKEND_DIR", root("more").string());
  std::atomic<int> refused{0}, wrong{0};
  // Losing a race to another thread may cause only errors of these codes.
  const auto may_lose = [&](const std::function<void()>& function) {
    try {
      function();
    } catch (const Error& error) {
      const bool is_expected = error.code() == FE_NOT_FOUND || error.code() == FE_INVALID_ARGUMENT;
      EXPECT_TRUE(is_expected) << name_of(error.code()) << ": " << error.what();
      ++refused;
    }
  };
  const std::vector<std::function<void()>> works = {
      [&] { load_from({root("more")}); },
      [&] { may_lose([&] { load(plain); }); },
      [&] { may_lose([&] { load(watched); }); },
      [&] { may_lose([&] { registry.unload("t_plain"); }); },
      [&] { may_lose([&] { registry.unload("t_watching"); }); },
      [&] { may_lose([&] { reload("t_plain"); }); },
      [&] { may_lose([&] { reload("t_named"); }); },
      [&] {
        for (const auto& listed : registry.devices()) {
          EXPECT_FALSE(listed->name().empty());
          static_cast<void>(listed->known_options());
        }
      },
      [&] { EXPECT_NE(registry.best(), nullptr); },
      [&] { may_lose([&] { registry.by_name("t_named:1")->open(); }); },
      [&] { registry.refresh(); },
      [&] { static_cast<void>(registry.remaining()); },
      // Computing threads.
      [&] { wrong += compute_on(device) != std::vector<float>(size, 2); },
      [&] { may_lose([&] { wrong += compute_on(registry.by_name("t_watching")) != std::vector<float>(size, 0); }); },
      [&] { wrong += compute_on(device) != std::vector<float>(size, 2); },
      [&] {
        const float value = 2;
        fe_scalar scalar{};
        std::memcpy(&scalar, &value, sizeof value);
        const ArrayPointer two = Array::scalar(DType::float32, device, scalar);
        const ArrayPointer sum = Array::record(ops::op_named("add"), {two, two}, {}, {});
        evaluate({&sum, 1});
      },
  };
  std::vector<std::thread> threads;
  threads.reserve(std::size(works));
  for (const auto& work : works)
    threads.emplace_back([&work] {
      for (int i = 0; i < rounds; ++i) work();
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_FALSE(load_from({root("more")}).rows.empty());
  EXPECT_FALSE(contains(notes(), "with open devices")) << notes();
}

TEST_F(RegistryThreads, DeviceIsLostAndRefreshedWhileThreadsUseIt) {
#ifdef FERRULE_NULL_MODULE
  load(FERRULE_NULL_MODULE);
  std::atomic<bool> ends{false};
  std::atomic<int> lost{0}, computed{0};
  const auto use = [&] {
    while (!ends) {
      try {
        const auto device = registry.by_name("null");
        try {
          device->open({{"device_lost_at", "5"}});
        } catch (const Error&) {  // already open, or lost
        }
        compute_on(device);
        ++computed;
      } catch (const Error& error) {
        const bool is_expected = error.code() == FE_DEVICE_LOST || error.code() == FE_NOT_FOUND;
        EXPECT_TRUE(is_expected) << name_of(error.code()) << ": " << error.what();
        lost += error.code() == FE_DEVICE_LOST;
      }
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) threads.emplace_back(use);
  for (int i = 0; i < 50 || lost == 0 || computed == 0; ++i) {
    registry.refresh();
    std::this_thread::yield();
  }
  ends = true;
  for (std::thread& thread : threads) thread.join();
  registry.refresh();
  std::vector<float> result;
  try {
    result = compute_on(registry.by_name("null"));
  } catch (const Error& error) {  // a healthy device is lost at its fifth execution
    EXPECT_EQ(error.code(), FE_DEVICE_LOST) << error.what();
    registry.refresh();
    result = compute_on(registry.by_name("null"));
  }
  EXPECT_EQ(result, std::vector<float>(size, 0));
  registry.unload("null");
#endif
}

TEST(LongMutexThreads, ExcludesOtherThreadsAndIsRecursive) {
  LongMutex mutex;
  int64_t count = 0;
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int j = 0; j < 2000; ++j) {
        const std::scoped_lock lock(mutex);
        const std::scoped_lock again(mutex);
        ++count;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 16000);
}

}  // namespace
}  // namespace ferrule::test
