// Trace events of queues whose device reports completion times, and of queues whose device does not.
#include "core/trace/trace.h"
#include "core/trace/traced_work.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace ferrule::test {
namespace {

class TracedQueues : public testing::Test {
 protected:
  static SegmentLabelsPointer labels(std::size_t nodes) {
    SegmentLabels made;
    made.whole.name = "segment";
    made.nodes.resize(nodes);
    for (std::size_t i = 0; i < nodes; ++i) made.nodes[i].name = "node " + std::to_string(i);
    return std::make_shared<const SegmentLabels>(std::move(made));
  }
  // Submitted now, some time after the previous submission.
  TracedWork& submit(uint64_t device, std::size_t nodes = 0, std::vector<uint64_t> after = {}) {
    work.push_back(std::make_shared<TracedWork>(FE_TRACE_SEGMENT, device, labels(nodes)));
    work.back()->submit(FE_QUEUE_COMPUTE, std::move(after));
    pause();
    return *work.back();
  }
  static void pause() { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }
  std::vector<TraceEvent> events() { return events_of(work, dropped); }

  std::vector<TracedWorkPointer> work;
  uint64_t dropped = 0;
};

TEST_F(TracedQueues, WorkBeginsWhenTheWorkBeforeItHasEnded) {
  TracedWork &first = submit(1), &second = submit(1);
  const uint64_t middle = monotonic_ns();
  pause();
  const uint64_t last = monotonic_ns();
  second.finish(last);
  first.finish(middle);
  const std::vector<TraceEvent> seen = events();
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].begin_ns, first.submitted_ns());
  EXPECT_EQ(seen[0].end_ns, middle);
  EXPECT_EQ(seen[1].begin_ns, middle);
  EXPECT_EQ(seen[1].end_ns, last);
}

TEST_F(TracedQueues, EndNoticedLateIsCappedByTheEndOfTheNextWork) {
  TracedWork &first = submit(1), &second = submit(1);
  second.finish(std::nullopt);
  pause();
  first.finish(std::nullopt);
  ASSERT_GT(first.end_ns(), second.end_ns());
  const std::vector<TraceEvent> seen = events();
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].end_ns, second.end_ns());
  EXPECT_LE(seen[0].end_ns, seen[1].begin_ns);
  EXPECT_LE(seen[1].begin_ns, seen[1].end_ns);
}

TEST_F(TracedQueues, WorkBeginsAfterTheWorkOfOtherQueuesThatItWaitedFor) {
  TracedWork& first = submit(1);
  TracedWork& second = submit(2, 0, {first.number()});
  const uint64_t middle = monotonic_ns();
  pause();
  first.finish(middle);
  second.finish(monotonic_ns());
  const std::vector<TraceEvent> seen = events();
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_GT(middle, second.submitted_ns());
  EXPECT_EQ(seen[1].begin_ns, middle);
}

TEST_F(TracedQueues, EndTimesBeyondTheHostsClockAreDiscarded) {
  TracedWork &early = submit(1), &late = submit(2);
  const uint64_t before = monotonic_ns();
  early.finish(early.submitted_ns() - 1);
  late.finish(monotonic_ns() + 1'000'000'000'000);
  for (const TracedWork* one : {&early, &late}) {
    EXPECT_GE(one->end_ns(), before);
    EXPECT_LE(one->end_ns(), monotonic_ns());
  }
}

TEST_F(TracedQueues, NodesLieWithinTheirWorkAndUnreportedNodesAreOmitted) {
  TracedWork& one = submit(1, 3);
  const uint64_t begin = one.submitted_ns(), end = monotonic_ns();
  TracedWork::record_node_time(&one, 0, begin + 1000, begin + 2000);
  TracedWork::record_node_time(&one, 2, begin + 2000, end + 5000);
  TracedWork::record_node_time(&one, 3, begin, end);  // no such node
  one.finish(end);
  const std::vector<TraceEvent> seen = events();
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(seen[0].kind, FE_TRACE_SEGMENT);
  EXPECT_EQ(seen[0].begin_ns, begin + 1000);
  EXPECT_EQ(seen[0].end_ns, end);
  EXPECT_EQ(seen[1].label->name, "node 0");
  EXPECT_EQ(seen[2].label->name, "node 2");
  EXPECT_EQ(seen[2].end_ns, end);
  EXPECT_EQ(dropped, 0u);
}

TEST_F(TracedQueues, UnfinishedWorkIsCountedAsDropped) {
  TracedWork& first = submit(1);
  submit(1, 2);
  first.finish(std::nullopt);
  EXPECT_EQ(events().size(), 1u);
  EXPECT_EQ(dropped, 3u);
}

TEST_F(TracedQueues, SessionContainsTheWorkSubmittedDuringIt) {
  const auto add = [&](uint64_t device) {
    submit(device).finish(std::nullopt);
    add_to_traces(work.back());
  };
  add(1);
  const auto session = TraceSession::begin(100);
  EXPECT_TRUE(is_tracing());
  add(2);
  const auto inner = TraceSession::begin(1);
  add(3);
  add(4);
  TraceSession::Result all = session->end(), some = inner->end();
  EXPECT_FALSE(is_tracing());
  add(5);
  EXPECT_EQ(all.events.size(), 3u);
  EXPECT_EQ(all.dropped, 0u);
  EXPECT_EQ(some.events.size(), 1u);
  EXPECT_EQ(some.dropped, 1u);
}

}  // namespace
}  // namespace ferrule::test
