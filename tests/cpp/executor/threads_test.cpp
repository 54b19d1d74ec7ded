// Compiled graphs on the thread pool: half precision with concurrent callers, and a backend's thread limit.
#include "api_handles.h"
#include "executor_fixture.h"

#include <ferrule/procs.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <latch>
#include <set>
#include <thread>

namespace ferrule::test {
namespace {

using ExecutorThreads = ExecutorTest;

// Row kernels for halves compute in the scratch memory of an execution, which has a part for each pool thread.
// Float32-only kernels, such as attention, get widened copies there.
TEST_F(ExecutorThreads, OneExecutableOfHalvesRunsOnManyThreadsAtOnce) {
  constexpr int64_t rows = 256, width = 320, heads = 4, length = 96, head = 64;
  const auto halves = [&](Shape shape, unsigned seed) {
    const int64_t count = element_count(shape);
    const StridedArray floats = array(cpu, shape, random_floats(count, seed));
    graph = {};
    graph.outputs = {add("astype", {input(shape)}, {{"dtype", DType::float16}})};
    return run(*build(cpu), {floats})[0];
  };
  const std::vector<StridedArray> given = {halves({rows, width}, 1),
                                           halves({width}, 2),
                                           halves({width}, 3),
                                           halves({heads, length, head}, 4),
                                           halves({heads, length, head}, 5),
                                           halves({heads, length, head}, 6)};
  set_thread_count(4);
  for (const char* op : {"softmax", "layer_norm", "scaled_dot_product_attention"}) {
    graph = {};
    std::vector<ValueId> operands;
    std::vector<StridedArray> inputs;
    const bool is_attention = op == std::string_view("scaled_dot_product_attention");
    const std::size_t first = is_attention ? 3 : 0, count = op == std::string_view("softmax") ? 1 : 3;
    for (std::size_t i = first; i < first + count; ++i) {
      operands.push_back(input(given[i].type.shape, DType::float16));
      inputs.push_back(given[i]);
    }
    graph.outputs = {add(op, operands)};
    const auto executable = build(cpu);
    set_thread_count(1);
    const auto alone = values_of<uint16_t>(run(*executable, inputs)[0]);
    EXPECT_GT(std::set(alone.begin(), alone.end()).size(), 100u);
    set_thread_count(4);
    std::latch start(8);
    std::vector<std::thread> threads;
    threads.reserve(8);
    for (int thread = 0; thread < 8; ++thread)
      threads.emplace_back([&] {
        start.arrive_and_wait();
        for (int i = 0; i < 10; ++i) EXPECT_TRUE(values_of<uint16_t>(run(*executable, inputs)[0]) == alone) << op;
      });
    for (std::thread& thread : threads) thread.join();
  }
}

#if defined(__linux__)  // lists its threads
// A single-threaded loop runs on the caller's thread; the pool starts its threads for the first loop that may use more.
TEST_F(ExecutorThreads, SetNThreadsOfTheCpuLimitsItsKernels) {
  graph.outputs = {add("softmax", {input({256, 320})})};
  const auto executable = build(cpu);
  const StridedArray given = array(cpu, {256, 320}, random_floats(256 * 320, 1));
  fe_backend_ref* backend = nullptr;
  ASSERT_EQ(fe_backend_by_name("cpu", &backend), nullptr);
  const BackendHandle owner(backend);
  fe_proc function = nullptr;
  ASSERT_EQ(fe_backend_get_proc(backend, FE_SET_N_THREADS, &function), nullptr);
  const auto set_n_threads = reinterpret_cast<fe_set_n_threads_function>(function);
  const auto threads_now = [] {
    std::set<std::string> numbers;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task"))
      numbers.insert(entry.path().filename().string());
    return numbers;
  };
  // Counts threads that were started since; threads that are exiting do not count.
  const auto count_new = [&](const std::set<std::string>& before) {
    const std::set<std::string> now = threads_now();
    std::vector<std::string> come;
    std::set_difference(now.begin(), now.end(), before.begin(), before.end(), std::back_inserter(come));
    return come.size();
  };
  std::thread([] {}).join();  // ThreadSanitizer starts its own thread with the first one
  set_thread_count(4);        // ends the pool's threads
  const std::set<std::string> before = threads_now();
  set_n_threads(1);
  const auto alone = values_of<uint32_t>(run(*executable, {given})[0]);
  EXPECT_EQ(count_new(before), 0u);
  set_n_threads(0);
  EXPECT_EQ(values_of<uint32_t>(run(*executable, {given})[0]), alone);
  EXPECT_EQ(count_new(before), 3u);
}
#endif

}  // namespace
}  // namespace ferrule::test
