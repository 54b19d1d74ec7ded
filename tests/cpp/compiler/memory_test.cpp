// Offsets of temporaries in the workspace.
#include "compiler_fixture.h"
#include "core/compiler/plan_memory.h"

#include <random>

namespace ferrule::test {
namespace {

using CompilerMemory = CompilerTest;

TEST_F(CompilerMemory, TemporariesLargerThanMemoryAreRefused) {
  WorkspacePlanner planner;
  planner.take(WorkspacePlanner::most - 64);
  EXPECT_THROW(planner.take(65), Error);
  EXPECT_THROW(planner.take(UINT64_MAX), Error);
  planner.take(64);
  EXPECT_THROW(planner.take(1), Error);
  EXPECT_EQ(planner.size(), uint64_t{1} << 62);  // twice that fits in neither int64 nor uint64
}

// Allocates and frees ranges of up to `largest` bytes.
void keep_apart(uint64_t largest) {
  std::mt19937 random(7);
  WorkspacePlanner planner;
  struct Place {
    uint64_t offset, bytes;
  };
  std::vector<Place> living;
  uint64_t most = 0, now = 0;
  for (int i = 0; i < 3000; ++i) {
    if (living.size() > 20 || (!living.empty() && random() % 2)) {
      const std::size_t which = random() % living.size();
      planner.give_back(living[which].offset, living[which].bytes);
      now -= (living[which].bytes + 63) / 64 * 64;
      living.erase(living.begin() + static_cast<std::ptrdiff_t>(which));
      continue;
    }
    const uint64_t bytes = 1 + random() % largest;
    const uint64_t offset = planner.take(bytes);
    ASSERT_EQ(offset % 64, 0u);
    ASSERT_LE(offset + bytes, planner.size());
    for (const Place& other : living)
      ASSERT_TRUE(offset + bytes <= other.offset || other.offset + other.bytes <= offset);
    living.push_back({offset, bytes});
    now += (bytes + 63) / 64 * 64;
    most = std::max(most, now);
  }
  EXPECT_LE(planner.size(), 2 * most);
  for (const Place& place : living) planner.give_back(place.offset, place.bytes);
  EXPECT_EQ(planner.take(planner.size()), 0u);
}

TEST_F(CompilerMemory, LiveTemporariesNeverOverlap) {
  keep_apart(1000);
  keep_apart(6400);  // few distinct sizes, so that one is often slightly smaller than another
  keep_apart(1'000'000);
}

TEST_F(CompilerMemory, ThousandChainedOpsNeedTheMemoryOfTwo) {
  ValueId x = input({1000});
  for (int i = 0; i < 1000; ++i) x = add("softmax", {x});
  graph.outputs = {x};
  EXPECT_EQ(compile(graph, options()).workspace_size, 2 * 4032u);
}

TEST_F(CompilerMemory, MemoryOfDeadResultsIsReused) {
  const ValueId x = input({16});
  std::vector<ValueId> rows;
  rows.reserve(10);
  for (int i = 0; i < 10; ++i) rows.push_back(add("softmax", {x}, {}, nullptr));
  ValueId sum = add("softmax", {add("softmax", {x})});
  for (int i = 0; i < 10; ++i) sum = add("softmax", {sum});
  graph.outputs = {sum};
  EXPECT_EQ(compile(graph, options()).workspace_size, 2 * 64u);
}

}  // namespace
}  // namespace ferrule::test
