// Traces of asynchronous devices: modules report nodes late, and from their own threads.
#include "core/memory/queue.h"
#include "core/trace/trace.h"
#include "executor_fixture.h"

#ifdef FERRULE_NULL_MODULE

#include <atomic>
#include <cmath>
#include <map>
#include <thread>

namespace ferrule::test {
namespace {

class ExecutorQueueTraces : public ExecutorTest, public testing::WithParamInterface<const char*> {
 protected:
  ExecutorQueueTraces() {
    load(FERRULE_NULL_MODULE);
    null = Registry::instance().by_name("null:0");
    null->open({{GetParam(), "true"},
                {"real_time", "true"},
                {"execution_ns", "1000"},
                {"hidden", "true"},
                {"computes_with", cpu->backend()->source().path.string()}});
  }
  ~ExecutorQueueTraces() override {
    executable.reset();
    null.reset();
    Registry::instance().unload("null");
  }
  // exp(x) + x, as two kernels.
  void build_on_null() {
    const ValueId x = input({64});
    graph.outputs = {add("add", {add("exp", {x}), x})};
    executable = build(null, false);
  }
  StridedArray compute(const StridedArray& x) {
    return executable->compute({&x, 1}, executable->plan().scalar_defaults)[0];
  }

  std::shared_ptr<Device> null;
  std::shared_ptr<Executable> executable;
};

std::vector<TraceEvent> of_kind(const TraceSession::Result& result, fe_trace_kind kind) {
  std::vector<TraceEvent> found;
  for (const TraceEvent& event : result.events)
    if (event.kind == kind) found.push_back(event);
  return found;
}

TEST_P(ExecutorQueueTraces, KernelsLieWithinTheirSegment) {
  build_on_null();
  const StridedArray x = array(null, {64}, std::vector<float>(64, 1));
  const auto session = TraceSession::begin(1000);
  const StridedArray y = compute(x);
  EXPECT_EQ(values_of<float>(y)[0], std::exp(1.0F) + 1);
  synchronize(*null);
  const TraceSession::Result result = session->end();
  EXPECT_EQ(result.dropped, 0u);
  const auto segments = of_kind(result, FE_TRACE_SEGMENT), kernels = of_kind(result, FE_TRACE_KERNEL);
  ASSERT_EQ(segments.size(), 1u);
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(segments[0].label->name, "exp, add");
  EXPECT_EQ(kernels[0].label->name, "exp");
  EXPECT_EQ(kernels[1].label->name, "add");
  EXPECT_LE(segments[0].begin_ns, kernels[0].begin_ns);
  EXPECT_LE(kernels[0].end_ns, kernels[1].begin_ns);
  EXPECT_LE(kernels[1].end_ns, segments[0].end_ns);
}

TEST_P(ExecutorQueueTraces, ModuleMayReportNodesAfterTheTraceHasEnded) {
  build_on_null();
  const StridedArray x = array(null, {64}, std::vector<float>(64, 1));
  auto session = TraceSession::begin(1000);
  std::vector<StridedArray> results;
  results.reserve(10);
  for (int i = 0; i < 10; ++i) results.push_back(compute(x));
  const TraceSession::Result result = session->end();
  session.reset();
  EXPECT_EQ(of_kind(result, FE_TRACE_SEGMENT).size() * 3 + result.dropped, 30u) << "what is not over is counted";
  for (const StridedArray& y : results) EXPECT_EQ(values_of<float>(y)[0], std::exp(1.0F) + 1);
}

TEST_P(ExecutorQueueTraces, TracesStartAndStopWhileThreadsCompute) {
  build_on_null();
  std::atomic<bool> is_done{false};
  std::vector<std::thread> threads;
  threads.reserve(3);
  for (int number = 0; number < 3; ++number)
    threads.emplace_back([&, number] {
      const auto value = static_cast<float>(number);
      const StridedArray x = array(null, {64}, std::vector<float>(64, value));
      while (!is_done) EXPECT_EQ(values_of<float>(compute(x))[63], std::exp(value) + value);
    });
  std::size_t seen = 0;
  for (int i = 0; i < 20 || seen == 0; ++i) {
    const auto session = TraceSession::begin(100'000);
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    const TraceSession::Result result = session->end();
    std::map<int32_t, uint64_t> last_end;
    for (const TraceEvent& event : result.events) {
      EXPECT_LE(event.begin_ns, event.end_ns);
      if (event.queue < 0 || event.kind == FE_TRACE_KERNEL) continue;
      EXPECT_GE(event.begin_ns, last_end[event.queue]) << "a queue does one piece of work after the other";
      last_end[event.queue] = event.end_ns;
      ++seen;
    }
  }
  is_done = true;
  for (std::thread& thread : threads) thread.join();
}

INSTANTIATE_TEST_SUITE_P(Is, ExecutorQueueTraces, testing::Values("late", "threaded"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace ferrule::test

#endif
