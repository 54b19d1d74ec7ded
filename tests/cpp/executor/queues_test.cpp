// Asynchronous devices: the null backend's queues, which run work as late as allowed or on threads, and use the CPU
// module's kernels.
#include "core/memory/host_memory.h"
#include "core/memory/queue.h"
#include "executor_fixture.h"
#include "variable.h"

#ifdef FERRULE_NULL_MODULE

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

namespace ferrule::test {
namespace {

class ExecutorQueues : public ExecutorTest {
 protected:
  void open(DeviceOptions options, bool two = false) {
    if (two) set_variable("FERRULE_NULL_FAULT", "two_devices");
    load(FERRULE_NULL_MODULE);
    set_variable("FERRULE_NULL_FAULT", nullptr);
    null = Registry::instance().by_name("null:0");
    options.emplace("hidden", "true");
    options.emplace("computes_with", cpu->backend()->source().path.string());
    null->open(options);
    if (!two) return;
    other = Registry::instance().by_name("null:1");
    other->open(options);
  }
  void close() {
    graph = {};
    null.reset();
    other.reset();
    if (Registry::instance().find_backend("null")) Registry::instance().unload("null");
  }
  ~ExecutorQueues() override { close(); }

  static std::vector<StridedArray> given(Executable& executable, const std::vector<StridedArray>& inputs) {
    return executable.compute(inputs, executable.plan().scalar_defaults);
  }
  // x + x on the device.
  std::shared_ptr<Executable> doubling(int64_t count, const std::shared_ptr<Device>& on) {
    graph = {};
    const ValueId x = input({count});
    graph.outputs = {add("add", {x, x})};
    return build(on);
  }
  uint64_t now_ns() const { return reinterpret_cast<uint64_t (*)()>(null->table().get_proc("now_ns"))(); }

  std::shared_ptr<Device> null, other;
};

class ExecutorQueuesFastAndSlow : public ExecutorQueues, public testing::WithParamInterface<const char*> {
 protected:
  DeviceOptions paced(DeviceOptions more = {}) const {
    const std::string_view pace = GetParam();
    const bool has_host_memory = pace != "late_without_host_memory";
    more.emplace(has_host_memory ? pace : "late", "true");
    if (!has_host_memory) more.emplace("host_memory", "false");
    return more;
  }
};

TEST_F(ExecutorQueues, CallReturnsBeforeItsWorkIsDone) {
  open({{"late", "true"}});
  const auto executable = doubling(64, null);
  const StridedArray x = array(null, {64}, std::vector<float>(64, 1));
  const StridedArray y = given(*executable, {x})[0];
  EXPECT_TRUE(y.data.storage->last_write()) << "nobody has waited for it";
  EXPECT_EQ(values_of<float>(y), std::vector<float>(64, 2));
  EXPECT_FALSE(y.data.storage->last_write()) << "it is known to have ended well";
}

TEST_P(ExecutorQueuesFastAndSlow, EachCallReadsTheResultOfThePreviousOne) {
  open(paced());
  const auto executable = doubling(1, null);
  StridedArray y = array(null, {1}, std::vector<float>{0x1p-120F});
  for (int i = 0; i < 200; ++i) {  // more work than a queue accepts before it blocks
    y = given(*executable, {y})[0];
    if (i % 100 == 99) {
      EXPECT_EQ(values_of<float>(y)[0], std::ldexp(1.0F, -120 + i + 1));
    }
  }
}

TEST_P(ExecutorQueuesFastAndSlow, FailureAffectsOnlyDependentArrays) {
  open(paced({{"execution_fails_at", "2"}}));
  const auto executable = doubling(8, null);
  const StridedArray x = array(null, {8}, std::vector<float>(8, 1));
  const StridedArray before = given(*executable, {x})[0];
  const StridedArray failed = given(*executable, {x})[0];
  const auto attempt =
      [&](const auto& compute) -> StridedArray {  // refused if the operand is already known to have failed
    try {
      return compute();
    } catch (const Error&) {
      return StridedArray(failed);
    }
  };
  const StridedArray later = attempt([&] { return given(*executable, {failed})[0]; });
  const StridedArray elsewhere = attempt([&] { return copy_to(later, cpu); });
  const StridedArray after = given(*executable, {x})[0];
  for (int i = 0; i < 2; ++i) {
    for (const StridedArray& view : {elsewhere, later, failed}) {
      const Error error = error_of([&] { values_of<float>(view); });
      EXPECT_EQ(error.code(), FE_INTERNAL);
      EXPECT_EQ(std::string(error.what()), "null: execution 2 failed, as requested (in add on null:0)");
    }
    EXPECT_EQ(values_of<float>(before), std::vector<float>(8, 2));
    EXPECT_EQ(values_of<float>(after), std::vector<float>(8, 2));
  }
  EXPECT_EQ(error_of([&] { given(*executable, {failed}); }).code(), FE_INTERNAL) << "known to have failed";
  EXPECT_FALSE(null->is_lost());
}

TEST_P(ExecutorQueuesFastAndSlow, FreedMemoryIsReusedOnTheSameQueue) {
  constexpr int64_t count = 1024;
  constexpr uint64_t bytes = count * sizeof(float);
  open(paced({{"memory", std::to_string(4 * bytes)}}));
  const auto executable = doubling(count, null);
  const StridedArray x = array(null, {count}, random_floats(count, 1));
  StridedArray y;
  for (int i = 0; i < 200; ++i) y = given(*executable, {x})[0];
  const std::vector<float> from = values_of<float>(x), to = values_of<float>(y);
  for (std::size_t i = 0; i < from.size(); ++i) EXPECT_EQ(to[i], 2 * from[i]);
  EXPECT_LE(memory_statistics(*null).peak, 4 * bytes);
}

TEST_P(ExecutorQueuesFastAndSlow, UnfinishedWorkDoesNotPreventUnloading) {
  open(paced());
  {
    const auto executable = doubling(64, null);
    given(*executable, {array(null, {64}, std::vector<float>(64, 1))});
  }
  EXPECT_NO_THROW(close());
}

TEST_P(ExecutorQueuesFastAndSlow, StridesAreCopiedOnTheDevice) {
  open(paced(), true);
  const std::vector<float> values = random_floats(24, 3);
  StridedArray view = array(null, {4, 6}, values);
  view.type.shape = Shape{6, 2};  // every other row, transposed, from the last column on
  view.data.offset = 5;
  view.data.strides = Strides{-1, 12};
  std::vector<float> expected;
  for (std::size_t column = 6; column-- > 0;)
    for (std::size_t row = 0; row < 4; row += 2) expected.push_back(values[6 * row + column]);
  EXPECT_EQ(values_of<float>(view), expected);
  EXPECT_EQ(values_of<float>(copy_to(view, null)), expected);
  EXPECT_EQ(values_of<float>(copy_to(view, cpu)), expected);
  EXPECT_EQ(values_of<float>(copy_to(copy_to(copy_to(view, other), null), cpu)), expected);
}

TEST_P(ExecutorQueuesFastAndSlow, GraphOnThreeDevicesIsRight) {
  open(paced({{"seed", "7"}}), true);
  const ValueId x = input({100}), y = input({100});
  const ValueId sum = add("add", {x, y});
  const ValueId product = add("multiply", {sum, y}, {}, other);
  const ValueId difference = add("subtract", {sum, x}, {}, cpu);
  graph.outputs = {add("add", {add("multiply", {product, difference}, {}, other), sum}), difference};
  const auto executable = build(null);
  for (unsigned turn = 0; turn < 20; ++turn) {
    const std::vector<float> a = random_floats(100, 2 * turn), b = random_floats(100, 2 * turn + 1);
    const auto results = given(*executable, {array(null, {100}, a), array(null, {100}, b)});
    const std::vector<float> first = values_of<float>(results[0]), second = values_of<float>(results[1]);
    for (std::size_t i = 0; i < a.size(); ++i) {
      const float s = a[i] + b[i], d = s - a[i];
      EXPECT_EQ(second[i], d);
      EXPECT_EQ(first[i], s * b[i] * d + s);
    }
  }
}

// Memory that its owner may write to once the call has returned.
TEST_P(ExecutorQueuesFastAndSlow, BorrowedMemoryIsReadBeforeACopyReturns) {
  constexpr int64_t count = 1024;
  open(paced());
  auto* const memory = reinterpret_cast<float*>(cpu->attached<HostMemory>().allocate(count * sizeof(float)));
  std::fill_n(memory, count, 1.0F);
  {
    const StridedArray borrowed{
        {DType::float32, Shape{count}},
        {Storage::borrow(cpu, memory, count * sizeof(float), FE_ACCESS_READ_WRITE, nullptr), 0, Strides{1}}};
    const StridedArray there = copy_to(borrowed, null);
    const StridedArray result = given(*doubling(count, null), {borrowed})[0];
    std::fill_n(memory, count, 2.0F);
    EXPECT_EQ(values_of<float>(there), std::vector<float>(count, 1));
    EXPECT_EQ(values_of<float>(result), std::vector<float>(count, 2));
  }
  EXPECT_TRUE(cpu->attached<HostMemory>().free(memory));
}

// The workspace is the same for each run until its memory is reclaimed.
TEST_P(ExecutorQueuesFastAndSlow, WorkspaceIsReleasedWhenMemoryIsShort) {
  open(paced());
  const ValueId x = input({1000});
  graph.outputs = {add("add", {add("softmax", {add("add", {add("softmax", {x}), x})}), x})};
  const auto executable = build(null);
  const std::vector<float> values = random_floats(1000, 1);
  const auto result = [&] { return values_of<float>(given(*executable, {array(null, {1000}, values)})[0]); };
  const std::vector<float> expected = result();
  const uint64_t kept = memory_statistics(*null).live;
  EXPECT_GT(kept, 0u);
  EXPECT_EQ(result(), expected);
  EXPECT_EQ(memory_statistics(*null).live, kept);
  trim_memory(*null);
  EXPECT_EQ(memory_statistics(*null).live, 0u);
  EXPECT_EQ(memory_statistics(*null).cached, 0u);
  EXPECT_EQ(result(), expected);
  const StridedArray before = given(*executable, {array(null, {1000}, values)})[0];  // still in use
  trim_memory(*null);
  EXPECT_EQ(values_of<float>(before), expected);
  null->attached<Allocator>().set_limit(kept + 4 * 4096);
  const StridedArray other = array(null, {static_cast<int64_t>(kept / 4)}, std::vector<float>(kept / 4, 1));
  EXPECT_EQ(values_of<float>(other), std::vector<float>(kept / 4, 1));
}

// Copies go through staging buffers in the device's host memory: two full pieces and a partial one.
TEST_P(ExecutorQueuesFastAndSlow, LargeArraysAreCopiedPieceByPiece) {
  open(paced());
  const auto count = static_cast<int64_t>(2 * HostMemory::piece_size / sizeof(float) + 3);
  const std::vector<float> values = random_floats(count, 5);
  const StridedArray there = copy_to(array(cpu, {count}, values), null);
  EXPECT_EQ(values_of<float>(there), values);
  EXPECT_EQ(values_of<float>(array(null, {count}, values)), values);
  EXPECT_EQ(values_of<float>(copy_to(there, cpu)), values);
}

TEST_P(ExecutorQueuesFastAndSlow, FailureOfOnePieceFailsTheArray) {
  const auto count = static_cast<int64_t>(3 * HostMemory::piece_size / sizeof(float));
  // Three pieces up; three down, or one copy into the caller's memory.
  const int copies = std::string_view(GetParam()) == "late_without_host_memory" ? 4 : 6;
  for (int n = 1; n <= copies; ++n) {
    open(paced({{"copy_fails_at", std::to_string(n)}}));
    const std::vector<float> values(static_cast<std::size_t>(count), 1);
    const Error error = error_of([&] { values_of<float>(array(null, {count}, values)); });
    EXPECT_EQ(error.code(), FE_INTERNAL);
    EXPECT_NE(std::string(error.what()).find("copy " + std::to_string(n)), std::string::npos) << error.what();
    EXPECT_EQ(values_of<float>(array(null, {count}, values)), values);
    close();
  }
}

// After many small copies without a wait, their staging buffers are reused.
TEST_P(ExecutorQueuesFastAndSlow, ManyCopiesNeedFewPieces) {
  open(paced());
  std::vector<StridedArray> arrays;
  arrays.reserve(300);
  for (int64_t i = 0; i < 300; ++i) arrays.push_back(array(null, {i + 1}, std::vector<float>(i + 1, float(i))));
  for (int64_t i = 0; i < 300; ++i) EXPECT_EQ(values_of<float>(arrays[i]), std::vector<float>(i + 1, float(i)));
}

TEST_F(ExecutorQueues, HostMemoryRecognisesItsAllocations) {
  open({{"late", "true"}});
  HostMemory& host = null->attached<HostMemory>();
  std::byte* const memory = host.allocate(100);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 64, 0u);
  EXPECT_TRUE(host.has(memory, 100));
  EXPECT_TRUE(host.has(memory + 99, 1));
  EXPECT_FALSE(host.has(memory + 99, 2));
  EXPECT_FALSE(host.has(memory, UINT64_MAX));
  EXPECT_FALSE(host.has(memory - 1, 1));
  int other = 0;
  EXPECT_FALSE(host.has(&other, sizeof other));
  EXPECT_FALSE(host.free(memory + 1));
  EXPECT_TRUE(host.free(memory));
  EXPECT_FALSE(host.free(memory));
  EXPECT_EQ(error_of([&] { host.allocate(uint64_t{1} << 63); }).code(), FE_OUT_OF_MEMORY);
}

// Every out-of-memory failure is an error, and the remaining state is still usable.
TEST_P(ExecutorQueuesFastAndSlow, OutOfMemoryAtAnyAllocationIsAnError) {
  constexpr int64_t count = 300;
  int failures = 0;
  for (int n = 1; n <= 30; ++n) {
    open(paced({{"out_of_memory_at", std::to_string(n)}}));
    const auto attempt = [&](bool may_fail) {
      try {
        graph = {};
        ValueId x = input({count});
        for (int i = 0; i < 30; ++i) x = i % 2 == 0 ? add("softmax", {x}) : add("add", {x, x});
        graph.outputs = {x};
        const auto executable = build(null);
        StridedArray y = array(null, {count}, std::vector<float>(count, 1));
        for (int i = 0; i < 3; ++i) y = given(*executable, {y})[0];
        values_of<float>(y);
      } catch (const Error& error) {
        EXPECT_TRUE(may_fail) << error.what();
        EXPECT_EQ(error.code(), FE_OUT_OF_MEMORY) << error.what();
        ++failures;
      }
    };
    attempt(true);
    attempt(false);
    synchronize(*null);
    EXPECT_EQ(memory_statistics(*null).live, 0u) << "at allocation " << n;
    close();
  }
  EXPECT_GE(failures, 1);  // the other allocations succeeded after cached memory was released
}

INSTANTIATE_TEST_SUITE_P(Is, ExecutorQueuesFastAndSlow, testing::Values("late", "threaded", "late_without_host_memory"),
                         [](const auto& information) { return std::string(information.param); });

TEST_F(ExecutorQueues, FaultInAnyStepIsAnErrorAndTheDeviceStaysUsable) {
  const char* const faults[] = {"execution_fails_at", "copy_fails_at", "submit_fails_at", "record_fails_at",
                                "wait_fails_at"};
  for (const char* fault : faults)
    for (int n = 1; n <= 6; ++n) {
      open({{"late", "true"}, {fault, std::to_string(n)}});
      int failures = 0;
      for (int turn = 0; turn < 10; ++turn) {
        try {
          const auto executable = doubling(8, null);
          const StridedArray x = array(null, {8}, std::vector<float>(8, 1));
          EXPECT_EQ(values_of<float>(given(*executable, {x})[0]), std::vector<float>(8, 2)) << fault << " " << n;
        } catch (const Error& error) {
          ++failures;
          EXPECT_EQ(error.code(), FE_INTERNAL) << error.what();
          EXPECT_NE(std::string(error.what()).find("as requested"), std::string::npos) << error.what();
        }
      }
      EXPECT_EQ(failures, 1) << fault << " " << n;
      EXPECT_FALSE(null->is_lost());
      close();
    }
}

TEST_F(ExecutorQueues, CancelledWaitDoesNotStopTheWork) {
  const std::string held = testing::TempDir() + "ferrule-held-" + std::to_string(std::random_device{}());
  std::ofstream(held, std::ios::app).close();
  open({{"held_while", held}});
  const auto executable = doubling(8, null);
  const StridedArray y = given(*executable, {array(null, {8}, std::vector<float>(8, 1))})[0];
  const Cancel now = {[](void*) { return 1; }, nullptr};
  EXPECT_EQ(error_of([&] { y.data.storage->finish_write(now); }).code(), FE_CANCELLED);
  std::filesystem::remove(held);
  EXPECT_EQ(values_of<float>(y), std::vector<float>(8, 2));
}

TEST_F(ExecutorQueues, UploadExecutionAndDownloadOfBatchesOverlap) {
  constexpr int batches = 50;
  constexpr int64_t count = 1000;
  constexpr uint64_t step_ns = count * sizeof(float);  // each of the three steps takes as long
  open({{"late", "true"}, {"bytes_per_second", "1000000000"}, {"execution_ns", std::to_string(step_ns)}});
  const auto executable = doubling(count, null);
  const StridedArray batch = array(cpu, {count}, std::vector<float>(count, 1));
  std::vector<StridedArray> results;
  results.reserve(batches);
  for (int i = 0; i < batches; ++i) results.push_back(copy_to(given(*executable, {copy_to(batch, null)})[0], cpu));
  for (const StridedArray& result : results) EXPECT_EQ(values_of<float>(result), std::vector<float>(count, 2));
  EXPECT_LE(static_cast<double>(now_ns()), 1.1 * batches * step_ns);
  EXPECT_GE(now_ns(), (batches + 2) * step_ns);
}

TEST_F(ExecutorQueues, TwoDevicesOfOneGraphWorkAtTheSameTime) {
  constexpr uint64_t step_ns = 1'000'000;
  open({{"late", "true"}, {"execution_ns", std::to_string(step_ns)}}, true);
  const ValueId x = input({64});
  graph.outputs = {add("exp", {x}), add("abs", {x}, {}, other)};
  const auto executable = build(null);
  std::vector<StridedArray> results;
  for (int i = 0; i < 10; ++i)
    for (StridedArray& result : given(*executable, {array(null, {64}, std::vector<float>(64, -1))}))
      results.push_back(std::move(result));
  for (const StridedArray& result : results) result.data.storage->finish_write();
  EXPECT_LE(static_cast<double>(now_ns()), 1.1 * 10 * step_ns);
}

TEST_F(ExecutorQueues, MemoryLimitIsEnforced) {
  open({{"late", "true"}});
  const StridedArray x = array(null, {1000}, std::vector<float>(1000, 1));
  null->attached<Allocator>().set_limit(3 * 4096);
  const StridedArray y = copy_to(x, null);
  { const StridedArray cached = copy_to(x, null); }
  const StridedArray z = copy_to(x, null);
  const Error error = error_of([&] { copy_to(x, null); });
  EXPECT_EQ(error.code(), FE_OUT_OF_MEMORY);
  EXPECT_NE(std::string(error.what()).find("the limit that was set is 12288"), std::string::npos) << error.what();
  null->attached<Allocator>().set_limit(0);
  EXPECT_EQ(values_of<float>(copy_to(x, null)), std::vector<float>(1000, 1));
}

// A module can keep what it recorded for a workspace only while the workspace is the same.
TEST_F(ExecutorQueues, WorkspaceIsReusedUntilATrimChangesItsGeneration) {
  struct Seen {
    fe_module_buffer* workspace;
    uint64_t generation;
  };
  static std::vector<Seen> seen;
  static decltype(fe_backend::execute) execute;
  seen.clear();
  open({});
  const ValueId x = input({16, 16});
  graph.outputs = {add("matmul", {add("matmul", {x, x}), x})};
  const auto executable = build(null);
  ASSERT_GT(executable->plan().workspace_size, 0u);
  auto& table = const_cast<fe_backend&>(null->table());
  execute = std::exchange(table.execute, [](fe_module_executable* of, fe_module_queue* queue, const fe_execution* run) {
    seen.push_back({run->workspace, run->workspace_generation});
    return execute(of, queue, run);
  });
  const auto run = [&] { given(*executable, {array(null, {16, 16}, std::vector<float>(256, 1))}); };
  run();
  run();
  trim_memory(*null);
  run();
  table.execute = execute;
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_NE(seen[0].workspace, nullptr);
  EXPECT_NE(seen[0].generation, 0u);
  EXPECT_EQ(seen[0].workspace, seen[1].workspace);
  EXPECT_EQ(seen[0].generation, seen[1].generation);
  EXPECT_NE(seen[1].generation, seen[2].generation);
}

}  // namespace
}  // namespace ferrule::test

#endif
