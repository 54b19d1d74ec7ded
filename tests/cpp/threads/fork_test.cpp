// Forked children keep running, whatever the parent's other threads were doing. Using objects that do not survive a
// fork is an error.
#include "core/executor/executable.h"
#include "core/log.h"
#include "core/memory/allocator.h"
#include "core/memory/queue.h"
#include "core/sync/fork.h"
#include "core/sync/mutexes.h"
#include "core/threads/pool.h"
#include "child_report.h"
#include "lifecycle_fixture.h"

#include <atomic>
#include <mutex>

namespace ferrule::test {
namespace {

using ForkTest = LifecycleTest;

std::string message_of_error(const std::function<void()>& function, fe_code code) {
  try {
    function();
  } catch (const Error& error) {
    if (error.code() == code) return "";
    return fmt::format("{} instead of {}: {}; ", name_of(error.code()), name_of(code), error.what());
  }
  return fmt::format("no error where {} was due; ", name_of(code));
}

TEST_F(ForkTest, ChildOfAProcessThatOnlyListedDevicesMayUseThem) {
  const auto device = watching();
  const auto report = [&] {
    if (compute_on(device) != std::vector<float>(size, 0)) return std::string("a wrong result");
    if (!device->memory().free) return std::string("no free memory");
    registry.unload("t_watching");
    load(root() / "libferrule-t_watching.so");
    compute_on(registry.by_name("t_watching"));
    registry.shutdown();
    return std::string();
  };
  EXPECT_EQ(report_of_child(report), "");
  EXPECT_TRUE(noted("closed t_watching"));
  EXPECT_FALSE(contains(notes(), "in a child:")) << notes();
  EXPECT_FALSE(device->is_open());
}

TEST_F(ForkTest, EveryUseOfAnInheritedDeviceIsAnErrorWithoutDriverCalls) {
  const auto device = watching();
  auto executable = compiled(device);
  auto array = std::make_unique<StridedArray>(ones(device));
  run(*executable, *array);
  // The steps follow a device's lifetime: compute, query, release, unload.
  const auto report = [&] {
    std::string problems;
    const auto refused = [&](const std::function<void()>& function) {
      problems += message_of_error(function, FE_UNSUPPORTED);
    };
    refused([&] { device->open(); });
    refused([&] { ones(device); });
    refused([&] { run(*executable, *array); });
    refused([&] { values_of(*array); });
    refused([&] { copy_to(*array, cpu()); });
    refused([&] { compiled(device); });
    refused([&] { static_cast<void>(device->memory()); });
    refused([&] { static_cast<void>(device->use("array")); });
    refused([&] { trim_memory(*device); });
    refused([&] { reset_queue(*device); });
    memory_statistics(*device);
    static_cast<void>(device->known_options());
    registry.refresh();
    if (registry.devices().empty()) problems += "no devices; ";
    refused([&] { registry.unload("t_watching"); });
    executable.reset();
    array.reset();
    refused([&] { registry.unload("t_watching"); });
    refused([&] { reload("t_watching"); });
    problems += message_of_error([&] { registry.shutdown(); }, FE_INVALID_ARGUMENT);
    return problems;
  };
  EXPECT_EQ(report_of_child(report), "");
  // A child that inherits everything and ends with exit().
  const pid_t child = fork();
  if (child == 0) std::exit(0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(contains(notes(), "in a child:")) << notes();
  EXPECT_EQ(values_of(*array), std::vector<float>(size, 1)) << "the parent goes on";
}

TEST_F(ForkTest, ErrorInTheChildSaysWhatToDo) {
  const auto device = watching();
  device->open();
  const auto report = [&] { return std::string(error_of([&] { device->open(); }).what()); };
  const std::string text = report_of_child(report);
  EXPECT_CONTAINS(text, "device t_watching:0 was opened before this process was forked");
  EXPECT_CONTAINS(text, "'spawn'");
}

// Returns when `count` threads of the pool are at work at once. A thread that is still starting may hold a lock of
// AddressSanitizer's allocator, which a forked child would then find locked for ever.
void start_all_threads(uint32_t count) {
  set_thread_count(count);
  std::atomic<uint32_t> started{0};
  parallel_for(count, 1, 0, [&](int64_t, int64_t, uint32_t) {
    for (++started; started < count;) std::this_thread::yield();
  });
}

TEST_F(ForkTest, HostDeviceAndItsThreadsWorkInTheChild) {
  FERRULE_SKIP_FORKS();
  const auto device = cpu();
  start_all_threads(4);
  const auto executable = compiled(device);
  const StridedArray array = ones(device);
  const auto sum = [] {
    std::atomic<int64_t> total{0};
    parallel_for(1000, 1, 0, [&](int64_t begin, int64_t end, uint32_t) { total += end - begin; });
    return total.load();
  };
  EXPECT_EQ(sum(), 1000);
  const auto report = [&] {
    if (sum() != 1000) return "the pool gives " + std::to_string(sum());
    if (values_of(run(*executable, array)) != std::vector<float>(size, 2)) return std::string("a wrong result");
    return compute_on(device) == std::vector<float>(size, 2) ? "" : std::string("a wrong result of a new graph");
  };
  EXPECT_EQ(report_of_child(report), "");
  // The same in a grandchild.
  EXPECT_EQ(report_of_child([&] { return report_of_child(report); }), "");
  set_thread_count(0);
}

TEST_F(ForkTest, DeviceBeingOpenedByAnotherThreadIsRefusedInTheChild) {
  const auto device = watching();
  const fs::path gate = folder_ / "gate";
  const Variable waits("FERRULE_TEST_OPEN_GATE", gate);
  std::thread opening([&] { device->open(); });
  while (!fs::exists(gate)) std::this_thread::yield();
  const auto report = [&] { return message_of_error([&] { device->open(); }, FE_UNSUPPORTED); };
  EXPECT_EQ(report_of_child(report), "") << "the fork does not wait for the thread that opens";
  fs::remove(gate);
  opening.join();
  EXPECT_FALSE(contains(notes(), "in a child:")) << notes();
}

TEST_F(ForkTest, ModuleThatForksWhileItIsOpenedDoesNotDeadlock) {
  const HoldsForks as_the_loader_does;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(report_of_child([] {
              const HoldsForks again;
              return std::string();
            }),
            "");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(1500));
}

TEST_F(ForkTest, MutexHeldByAnotherThreadIsFreeInTheChild) {
  FERRULE_SKIP_FORKS();
  LongMutex mutex;
  std::atomic<bool> is_held{false}, ends{false};
  std::thread holding([&] {
    const std::scoped_lock lock(mutex);
    is_held = true;
    while (!ends) std::this_thread::yield();
  });
  while (!is_held) std::this_thread::yield();
  EXPECT_EQ(report_of_child([&] {
              const std::scoped_lock lock(mutex);
              std::thread([&] {}).join();
              return std::string();
            }),
            "");
  ends = true;
  holding.join();
  const std::scoped_lock lock(mutex);
  EXPECT_EQ(report_of_child([&] {
              const std::scoped_lock again(mutex);  // held by this thread
              return std::string();
            }),
            "");
}

TEST_F(ForkTest, ChildLoadsComputesLogsAndUnloadsDespiteOtherThreadsOfTheParent) {
  FERRULE_SKIP_FORKS_OF_BUSY_THREADS();
  const auto device = cpu();
  set_thread_count(2);
  const fs::path module = put(root(), "t_plain");
  put_with_manifest(root("more"), "t_two", {});
  std::atomic<bool> ends{false};
  set_log_callback([](void*, fe_log_level, const char*) {}, nullptr, LogDelivery::queued);
  set_log_level(FE_LOG_DEBUG);
  std::mutex guard;
  std::string problems;
  const auto add_problem = [&](const std::string& problem) {
    const std::scoped_lock lock(guard);
    problems += problem;
  };
  const auto repeat = [&](auto work) {
    return std::thread([&, work] {
      try {
        while (!ends) work();
      } catch (const std::exception& error) {
        add_problem(fmt::format("the parent threw: {}; ", error.what()));
        ends = true;
      }
    });
  };
  std::vector<std::thread> threads;
  threads.push_back(repeat([&] { load_from({root("more")}); }));
  threads.push_back(repeat([&] {
    load(module);
    registry.unload("t_plain");
  }));
  for (int i = 0; i < 2; ++i) threads.push_back(repeat([&] { compute_on(device); }));
  threads.push_back(repeat([&] {
    fe_scalar one{};
    const ArrayPointer scalar = Array::scalar(DType::float32, device, one);
    const ArrayPointer lazy = Array::record(ops::op_named("exp"), {scalar}, {}, {});
    evaluate({&lazy, 1});
  }));
  threads.push_back(repeat([&] { parallel_for(64, 1, 0, [](int64_t, int64_t, uint32_t) {}); }));
  threads.push_back(repeat([&] {
    log_warning("a line");
    drain_log();
    registry.refresh();
  }));
  threads.push_back(repeat([&] {
    for (const auto& listed : registry.devices()) static_cast<void>(listed->known_options());
    memory_statistics(*device);
    trim_memory(*device);
  }));
  const auto report = [&] {
    if (load_from({root("more")}).rows.empty()) return std::string("nothing was found");
    step_of_child() = "load_all";
    if (compute_on(device) != std::vector<float>(size, 2)) return std::string("a wrong result");
    step_of_child() = "a graph";
    std::atomic<int64_t> total{0};
    parallel_for(1000, 1, 0, [&](int64_t begin, int64_t end, uint32_t) { total += end - begin; });
    if (total != 1000) return std::string("the pool lost something");
    step_of_child() = "the pool";
    log_warning("another line");
    drain_log();
    step_of_child() = "the log";
    registry.refresh();
    memory_statistics(*device);
    trim_memory(*device);
    step_of_child() = "refresh and trim";
    if (registry.find_backend("t_plain")) registry.unload("t_plain");
    step_of_child() = "the first unload";
    load(module);
    step_of_child() = "load";
    registry.unload("t_plain");
    step_of_child() = "unload";
    return std::string();
  };
  for (int i = 0; i < 40 && !ends; ++i) {
    const std::string problem = report_of_child(report);
    add_problem(problem);
    if (!problem.empty()) ends = true;
  }
  ends = true;
  for (std::thread& thread : threads) thread.join();
  set_log_callback(nullptr, nullptr);
  set_log_level(FE_LOG_WARNING);
  set_thread_count(0);
  EXPECT_EQ(problems, "");
}

}  // namespace
}  // namespace ferrule::test
