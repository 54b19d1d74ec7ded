// Graphs over two devices: the CPU with a second build of itself, whose results can be compared, and with the null
// device, which has its own memory and fails on demand. A static program has no second build.
#include "core/executor/execution_counters.h"
#include "core/memory/queue.h"
#include "executor_fixture.h"

#ifdef FERRULE_CPU2_MODULE

namespace ferrule::test {
namespace {

class ExecutorDevices : public ExecutorTest {
 protected:
  ExecutorDevices() {
    load(FERRULE_CPU2_MODULE);
    load(FERRULE_NULL_MODULE);
    second = Registry::instance().by_name("cpu2");
    null = Registry::instance().by_name("null");
  }
  ~ExecutorDevices() override {
    graph = {};
    null.reset();
    Registry::instance().unload("null");
  }
  static nlohmann::json placement(const Executable& executable) {
    return nlohmann::json::parse(placement_to_json(executable.plan())).at("nodes");
  }
  static nlohmann::json steps(const Executable& executable) {
    return nlohmann::json::parse(plan_to_json(executable.plan())).at("steps");
  }

  std::shared_ptr<Device> second, null;
};

TEST_F(ExecutorDevices, SplitGraphMatchesEitherDeviceAlone) {
  // Sums and products of small integers are exact with every instruction set.
  const auto results_on = [&](const std::shared_ptr<Device>& other) {
    graph = {};
    const ValueId x = input({8, 16}), w = input({16, 16});
    const ValueId y = add("matmul", {x, w}, {}, other);
    const ValueId z = add("multiply", {add("relu", {y}), y}, {}, cpu);
    graph.outputs = {add("sum", {z}, {{"axis", std::vector<int64_t>{1}}}, other), add("add", {y, x})};
    std::vector<float> a(8 * 16), b(16 * 16);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 7) - 3;
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 5) - 2;
    const auto executable = build(cpu);
    const auto results = run(*executable, {array(cpu, {8, 16}, a), array(cpu, {16, 16}, b)});
    for (const StridedArray& result : results) EXPECT_EQ(result.data.storage->device(), cpu);
    return std::pair(values_of<float>(results[0]), values_of<float>(results[1]));
  };
  EXPECT_EQ(results_on(second), results_on(cpu));
}

TEST_F(ExecutorDevices, PlacementPlanAndCountersShowTheSplit) {
  const ValueId x = input({4, 4});
  const ValueId y = add("matmul", {x, x}, {}, second);
  graph.outputs = {add("exp", {y})};
  const auto executable = build(cpu);
  const nlohmann::json placed = placement(*executable), plan = steps(*executable);
  ASSERT_EQ(placed.size(), 2u) << placed;
  EXPECT_EQ(placed[0].at("device"), "cpu2:0");
  EXPECT_EQ(placed[1].at("device"), "cpu:0");
  ASSERT_EQ(plan.size(), 4u) << plan;
  EXPECT_EQ(plan[0].at("transfer"), "float32(4, 4)");
  EXPECT_EQ(plan[0].at("to"), "cpu2:0");
  EXPECT_EQ(plan[0].at("bytes"), 64);
  EXPECT_EQ(plan[1].at("device"), "cpu2:0");
  EXPECT_EQ(plan[2].at("to"), "cpu:0");
  const uint64_t before = execution_counters().transfers;
  run(*executable, {array(cpu, {4, 4}, std::vector<float>(16, 1))});
  EXPECT_EQ(execution_counters().transfers - before, 2u);
}

TEST_F(ExecutorDevices, ConstantsAreTransferredOnceAndNotInEachRun) {
  const StridedArray weights = array(cpu, {64, 64}, random_floats(64 * 64, 1));
  const ValueId w = graph.add_constant("w", weights.type, weights.data);
  graph.outputs = {add("matmul", {input({2, 64}), w}, {}, second)};
  const auto executable = build(cpu);
  const StridedArray given = array(cpu, {2, 64}, random_floats(128, 2));
  run(*executable, {given});
  const uint64_t before = execution_counters().transfers;
  for (int i = 0; i < 3; ++i) run(*executable, {given});
  EXPECT_EQ(execution_counters().transfers - before, 6u);  // input to the device, result back
}

TEST_F(ExecutorDevices, NullDeviceReturnsZerosOfTheRightShape) {
  const ValueId x = input({3, 5});
  const ValueId y = add("exp", {x}, {}, null);
  graph.outputs = {add("add", {add("sum", {y}, {{"axis", std::vector<int64_t>{1}}, {"keepdims", true}}), x})};
  const auto executable = build(cpu);
  EXPECT_EQ(placement(*executable)[0].at("device"), "null:0");
  const std::vector<float> a = random_floats(15, 5);
  const auto results = run(*executable, {array(cpu, {3, 5}, a)});
  EXPECT_EQ(results[0].type, (TensorType{DType::float32, {3, 5}}));
  EXPECT_EQ(values_of<float>(results[0]), a);
}

TEST_F(ExecutorDevices, OutOfMemoryFailsTheCompilationAndReleasesMemory) {
  null->open({{"out_of_memory_at", "1"}});
  const ValueId x = input({64, 64});
  graph.outputs = {add("softmax", {add("matmul", {x, x})})};
  const Error error = error_of([&] { build(null); });
  EXPECT_EQ(error.code(), FE_OUT_OF_MEMORY) << error.what();
  EXPECT_NE(std::string(error.what()).find("null"), std::string::npos) << error.what();
  EXPECT_NE(build(null), nullptr);
}

TEST_F(ExecutorDevices, LostDeviceFailsEveryWaitAndItsReset) {
  null->open({{"device_lost_at", "2"}});
  graph.outputs = {add("exp", {input({4})})};
  const auto executable = build(null);
  const StridedArray given = array(null, {4}, std::vector<float>(4, 1));
  EXPECT_EQ(values_of<float>(run(*executable, {given})[0]), std::vector<float>(4, 0));
  for (int i = 0; i < 2; ++i) {
    const Error error = error_of([&] { run(*executable, {given}); });
    EXPECT_EQ(error.code(), FE_DEVICE_LOST);
    EXPECT_NE(std::string(error.what()).find("execution 2"), std::string::npos) << error.what();
  }
  EXPECT_EQ(error_of([&] { reset_queue(*null); }).code(), FE_DEVICE_LOST);
  EXPECT_EQ(error_of([&] { run(*executable, {given}); }).code(), FE_DEVICE_LOST);
}

TEST_F(ExecutorDevices, ReportedErrorDoesNotFailTheNextRun) {
  null->open({{"execution_fails_at", "2"}});
  graph.outputs = {add("exp", {input({4})})};
  const auto executable = build(null);
  const StridedArray given = array(null, {4}, std::vector<float>(4, 1));
  EXPECT_EQ(run(*executable, {given}).size(), 1u);
  const Error error = error_of([&] { run(*executable, {given}); });
  EXPECT_EQ(error.code(), FE_INTERNAL);
  EXPECT_NE(std::string(error.what()).find("execution 2 failed"), std::string::npos) << error.what();
  EXPECT_EQ(values_of<float>(run(*executable, {given})[0]), std::vector<float>(4, 0));
}

TEST_F(ExecutorDevices, BusyQueueIsWaitedFor) {
  null->open({{"slow_ms", "30"}});
  graph.outputs = {add("exp", {input({4})})};
  const auto executable = build(null);
  const StridedArray given = array(null, {4}, std::vector<float>(4, 1));
  const auto begin = std::chrono::steady_clock::now();
  const auto results = run(*executable, {given});
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(30));
}

TEST_F(ExecutorDevices, BackendStaysLoadedWhileItsExecutableExists) {
  graph.outputs = {add("exp", {input({4})})};
  {
    const auto executable = build(null);
    const Error error = error_of([] { Registry::instance().unload("null"); });
    EXPECT_EQ(error.code(), FE_INVALID_ARGUMENT);
    EXPECT_NE(std::string(error.what()).find("compiled graph"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace ferrule::test

#endif
