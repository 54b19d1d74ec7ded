// Compiled graphs on the CPU module: memory, fusion, threads, errors.
#include "executor_fixture.h"

#include <cstdlib>
#include <functional>
#include <thread>
#if !defined(_WIN32)
#include <pthread.h>
#endif

namespace ferrule::test {
namespace {

using Executor = ExecutorTest;

TEST_F(Executor, ResultOfASimpleGraphIsRight) {
  graph.outputs = {add("relu", {add("matmul", {input({2, 2}), input({2, 2})})})};
  const auto executable = build(cpu);
  const std::vector<float> a = {1, 2, 3, -4}, b = {1, 0, 0, 1};
  const auto results = run(*executable, {array(cpu, {2, 2}, a), array(cpu, {2, 2}, b)});
  EXPECT_EQ(values_of<float>(results[0]), (std::vector<float>{1, 2, 3, 0}));
}

TEST_F(Executor, WorkspaceSizeMatchesThePlan) {
  const int64_t rows = 512, columns = 1024;
  const ValueId x = input({rows, columns});
  ValueId y = x;
  for (int i = 0; i < 5; ++i) y = add("softmax", {y});
  graph.outputs = {y};
  trim_memory(*cpu);
  const uint64_t before = memory_statistics(*cpu).live, earlier_peak = memory_statistics(*cpu).peak;
  const auto executable = build(cpu);
  const uint64_t array_size = rows * columns * sizeof(float);
  EXPECT_EQ(executable->plan().workspace_size, 2 * array_size);
  EXPECT_EQ(nlohmann::json::parse(plan_to_json(executable->plan())).at("workspace_bytes"), 2 * array_size);
  // The workspace is allocated once while compiling, so that lack of memory is reported there, and released.
  EXPECT_EQ(memory_statistics(*cpu).live, before);
  EXPECT_GE(memory_statistics(*cpu).cached, 2 * array_size);
  const StridedArray given = array(cpu, {rows, columns}, random_floats(rows * columns, 1));
  const auto results = run(*executable, {given});
  EXPECT_EQ(memory_statistics(*cpu).live, before + 2 * array_size);  // input and output
  ASSERT_LT(earlier_peak, before + 4 * array_size) << "the test before this one needs as much";
  EXPECT_EQ(memory_statistics(*cpu).peak, before + 4 * array_size);
}

// Runs it on a thread with a stack of half a megabyte where the system lets us choose, else of its own size.
void on_small_stack(const std::function<void()>& work) {
#if defined(_WIN32)
  std::thread(work).join();
#else
  pthread_attr_t attributes;
  pthread_t thread{};
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, 512 << 10), 0);
  const auto start = [](void* argument) -> void* {
    (*static_cast<const std::function<void()>*>(argument))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, start, const_cast<std::function<void()>*>(&work)), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
#endif
}

// 100,000 nodes are compiled, run and freed where recursion over them would need at least 5 MB of stack.
TEST_F(Executor, LongChainsComputeAndAreFreedWithoutRecursion) {
  on_small_stack([this] {
    const ValueId x = input({4});
    ValueId sum = x;
    for (int i = 0; i < 100'000; ++i) sum = add("add", {sum, x});
    graph.outputs = {sum};
    const auto executable = build_executable(std::move(graph), cpu, Fallback::error, true);
    graph = {};
    const auto results = run(*executable, {array<float>(cpu, {4}, {1, 0.5, 2, -1})});
    EXPECT_EQ(values_of<float>(results[0]), (std::vector<float>{100'001, 50'000.5, 200'002, -100'001}));
  });
}

// Random elementwise graphs with broadcasts, casts and several outputs, some after a matmul or a reduction.
TEST_F(Executor, FusedEqualsUnfusedBitForBit) {
  const char* const unary[] = {"exp",  "tanh", "abs", "negative", "sigmoid", "sqrt",
                               "gelu", "silu", "sin", "relu",     "square",  "reciprocal"};
  const char* const binary[] = {"add", "subtract", "multiply", "divide", "maximum", "pow"};
  std::mt19937 random(11);
  const auto pick = [&](std::size_t count) { return random() % count; };
  uint64_t fused_nodes = 0;
  for (int round = 0; round < 60; ++round) {
    graph = {};
    const std::vector<StridedArray> arrays = {
        array(cpu, {7, 33}, random_floats(7 * 33, random())), array(cpu, {33}, random_floats(33, random())),
        array(cpu, {7, 1}, random_floats(7, random())), array(cpu, {33, 33}, random_floats(33 * 33, random()))};
    std::vector<ValueId> values;
    values.reserve(arrays.size());
    for (const StridedArray& each : arrays) values.push_back(input(each.type.shape));
    const ValueId square = values.back();
    values.pop_back();
    if (round % 3 == 1) values.push_back(add("matmul", {values[0], square}));
    if (round % 3 == 2)
      values.push_back(add("sum", {values[0]}, {{"axis", std::vector<int64_t>{1}}, {"keepdims", true}}));
    for (int i = 0; i < 12; ++i) {
      const ValueId a = values[pick(values.size())], b = values[pick(values.size())];
      if (pick(3) == 0)
        values.push_back(add(unary[pick(std::size(unary))], {a}));
      else if (pick(8) == 0)
        values.push_back(add("where", {add("less", {a, b}), a, b}));
      else
        values.push_back(add(binary[pick(std::size(binary))], {a, b}));
    }
    graph.outputs = {values.back(), values[values.size() - 3]};
    const auto fused = build(cpu, true), plain = build(cpu, false);
    fused_nodes += plan_to_json(fused->plan()).find("\"fused\"") != std::string::npos;
    EXPECT_EQ(plan_to_json(plain->plan()).find("\"fused\""), std::string::npos);
    const auto with = run(*fused, arrays), without = run(*plain, arrays);
    for (std::size_t i = 0; i < with.size(); ++i) {
      const auto left = values_of<uint32_t>(with[i]), right = values_of<uint32_t>(without[i]);
      ASSERT_EQ(left, right) << "round " << round << ", output " << i << "\n" << to_text(graph);
    }
  }
  EXPECT_GT(fused_nodes, 30u);
}

TEST_F(Executor, ResultsDoNotDependOnTheNumberOfThreads) {
  const ValueId x = input({4, 96, 80}), w = input({80, 200});
  const ValueId y = add("matmul", {x, w});
  graph.outputs = {add("softmax", {y}), add("sum", {y}, {{"axis", std::vector<int64_t>{0, 1, 2}}}), add("gelu", {y}),
                   add("mean", {y}, {{"axis", std::vector<int64_t>{0}}}), add("layer_norm", {y})};
  const auto executable = build(cpu);
  const std::vector<StridedArray> arrays = {array(cpu, {4, 96, 80}, random_floats(4 * 96 * 80, 3)),
                                            array(cpu, {80, 200}, random_floats(80 * 200, 4))};
  std::vector<std::vector<uint32_t>> expected;
  for (const uint32_t threads : {1u, 2u, 3u, 8u}) {
    set_thread_count(threads);
    const auto results = run(*executable, arrays);
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (threads == 1) expected.push_back(values_of<uint32_t>(results[i]));
      EXPECT_EQ(values_of<uint32_t>(results[i]), expected[i]) << "output " << i << ", threads " << threads;
    }
  }
}

TEST_F(Executor, OneExecutableRunsOnManyThreadsAtOnce) {
  const ValueId x = input({32, 32});
  graph.outputs = {add("sum", {add("matmul", {x, add("tanh", {x})})}, {{"axis", std::vector<int64_t>{0, 1}}})};
  const auto executable = build(cpu);
  std::vector<std::thread> threads;
  threads.reserve(6);
  for (unsigned seed = 0; seed < 6; ++seed)
    threads.emplace_back([&, seed] {
      const StridedArray given = array(cpu, {32, 32}, random_floats(32 * 32, seed));
      const auto first = values_of<uint32_t>(run(*executable, {given})[0]);
      for (int i = 0; i < 20; ++i) EXPECT_EQ(values_of<uint32_t>(run(*executable, {given})[0]), first);
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_F(Executor, ArgumentErrorsAreImmediateAndNameTheDifference) {
  graph.outputs = {add("exp", {input({2, 3})})};
  const auto executable = build(cpu);
  const Error shape = error_of([&] { run(*executable, {array<float>(cpu, {3}, {1, 2, 3})}); });
  EXPECT_EQ(shape.code(), FE_INVALID_ARGUMENT);
  EXPECT_NE(std::string(shape.what()).find("float32(2, 3)"), std::string::npos) << shape.what();
  EXPECT_EQ(error_of([&] { run(*executable, {}); }).code(), FE_INVALID_ARGUMENT);
}

TEST_F(Executor, IndexOutOfBoundsFailsTheRunAndTheNextRunSucceeds) {
  graph.outputs = {add("take", {input({4}), input({2}, DType::int64)}, {{"axis", int64_t{0}}})};
  const auto executable = build(cpu);
  const StridedArray x = array<float>(cpu, {4}, {1, 2, 3, 4});
  const auto indices = [&](int64_t a, int64_t b) { return array<int64_t>(cpu, {2}, {a, b}, DType::int64); };
  const Error error = error_of([&] { run(*executable, {x, indices(0, 4)}); });
  EXPECT_EQ(error.code(), FE_INVALID_ARGUMENT) << error.what();
  EXPECT_EQ(values_of<float>(run(*executable, {x, indices(3, -4)})[0]), (std::vector<float>{4, 1}));
}

TEST_F(Executor, CancellationBetweenNodesReleasesAllMemory) {
  const ValueId x = input({16, 16});
  ValueId y = x;
  for (int i = 0; i < 200; ++i) y = add("matmul", {y, x});
  graph.outputs = {y};
  const auto executable = build(cpu);
  const StridedArray given = array(cpu, {16, 16}, std::vector<float>(256, 0.01f));
  const uint64_t before = memory_statistics(*cpu).live;
  int asked = 0;
  const Cancel cancel{[](void* count) { return ++*static_cast<int*>(count) > 3 ? 1 : 0; }, &asked};
  const std::vector<StridedArray> inputs = {given};
  EXPECT_EQ(error_of([&] { executable->compute(inputs, {}, {}, {.cancel = cancel}); }).code(), FE_CANCELLED);
  EXPECT_GT(asked, 3);
  EXPECT_LT(asked, 100);
  EXPECT_EQ(memory_statistics(*cpu).live, before);
  EXPECT_EQ(run(*executable, inputs).size(), 1u);
}

TEST_F(Executor, EmptyArraysAreInputsAndOutputs) {
  const ValueId x = input({0, 3});
  graph.outputs = {add("exp", {x}), add("sum", {x}, {{"axis", std::vector<int64_t>{0}}})};
  const auto results = run(*build(cpu), {array<float>(cpu, {0, 3}, {})});
  EXPECT_TRUE(values_of<float>(results[0]).empty());
  EXPECT_EQ(values_of<float>(results[1]), (std::vector<float>{0, 0, 0}));
}

TEST_F(Executor, EmptyOutputDoesNotReplaceItsRoot) {
  const ValueId doubled = add("square", {input({12})});
  const ValueId none = add(
      "slice", {doubled},
      {{"starts", std::vector<int64_t>{0}}, {"sizes", std::vector<int64_t>{0}}, {"steps", std::vector<int64_t>{1}}});
  const std::vector<float> twos(12, 2);
  for (const std::vector<ValueId>& outputs : {std::vector{doubled, none}, std::vector{none, doubled}}) {
    graph.outputs = outputs;
    const auto results = run(*build(cpu), {array(cpu, {12}, twos)});
    const bool is_first = outputs[0] == doubled;
    EXPECT_EQ(values_of<float>(results[is_first ? 0 : 1]), std::vector<float>(12, 4));
    EXPECT_TRUE(values_of<float>(results[is_first ? 1 : 0]).empty());
  }
}

TEST_F(Executor, OutMemoryOverlapsNeitherConstantsNorOtherOutputs) {
  alignas(64) static float bytes[256];
  for (int i = 0; i < 256; ++i) bytes[i] = static_cast<float>(i);
  auto borrowed = Storage::borrow(cpu, bytes, sizeof bytes, FE_ACCESS_READ, nullptr);
  const TensorType type{DType::float32, {16, 16}};
  const ValueId w = graph.add_constant("w", type, {std::move(borrowed), 0, contiguous_strides(type.shape)});
  const ValueId x = input({16, 16});
  const ValueId transposed = add("permute_dims", {w}, {{"axes", std::vector<int64_t>{1, 0}}});
  graph.outputs = {add("add", {x, transposed}), add("multiply", {x, w})};
  const auto executable = build(cpu);
  const std::vector<StridedArray> inputs = {array(cpu, {16, 16}, std::vector<float>(256, 0))};
  alignas(64) static float out[2][256];
  const auto attempt = [&](void* first, void* second) {
    const OutputMemory memory[] = {{first, sizeof bytes}, {second, sizeof bytes}};
    executable->compute(inputs, {}, memory);
  };
  const auto refusal_of = [&](void* first, void* second) {
    return std::string(error_of([&] { attempt(first, second); }).what());
  };
  EXPECT_NE(refusal_of(bytes, out[0]).find("output 0 overlaps the memory of constant 'w'"), std::string::npos);
  EXPECT_NE(refusal_of(nullptr, bytes + 255).find("output 1 overlaps"), std::string::npos);
  EXPECT_NE(refusal_of(out[0], out[0] + 255).find("outputs 0 and 1 overlap"), std::string::npos);
  for (int i = 0; i < 256; ++i) ASSERT_EQ(bytes[i], static_cast<float>(i));
  attempt(out[0], out[1]);
  EXPECT_EQ(out[0][1], 16);
}

TEST_F(Executor, FoldedConstantIsReleased) {
  const TensorType type{DType::float32, {64, 64}};
  const StridedArray bytes = array(cpu, {64, 64}, random_floats(64 * 64, 3));
  const std::weak_ptr<Storage> kept = bytes.data.storage;
  const ValueId w = graph.add_constant("w", type, bytes.data);
  graph.outputs = {add("add", {input({64, 64}), add("exp", {w})})};
  std::shared_ptr<Executable> executable = build(cpu);
  graph = {};
  EXPECT_EQ(kept.use_count(), 1);  // held only by the test
}

}  // namespace
}  // namespace ferrule::test
