// Queues of a card's engines: overlap, waits and completion times.
#include "card.h"

#include "buffers/host_allocations.h"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>

namespace ferrule::test {
namespace {

using vulkan::Engine;

class VulkanEngines : public VulkanCard {
 protected:
  // Makes work submitted to `second` from now on wait for the work already in `first`.
  static void order(vulkan::Queue& first, vulkan::Queue& second) { second.wait_for(*first.record()); }
};

TEST_F(VulkanEngines, CopiesRunWhileAnExecutionRuns) {
  open_held_card(0);
  vulkan::Queue queue(context), up(context, Engine::uploading), down(context, Engine::downloading);
  const vulkan::Allocation a = allocate(256), b = allocate(256), c = allocate(256);
  fill(queue, a, 1);
  const auto executed = queue.record();
  upload(up, b, 2);
  up.copy(c, 0, b, 0, b.size);
  order(up, down);
  EXPECT_EQ(last_word(down, c), 2u);
  const std::byte word[] = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  up.fill(b, 0, word, b.size);
  order(up, down);
  EXPECT_EQ(last_word(down, b), 0x04030201u);
  EXPECT_FALSE(executed->done());
  EXPECT_EQ(outcome_of([&] { executed->time(); }).code, FE_TIMEOUT);
  let_go();
  order(queue, down);
  EXPECT_EQ(last_word(down, a), 1u);
  EXPECT_TRUE(executed->done());
}

TEST_F(VulkanEngines, ExecutionRunsWhileACopyRuns) {
  open_held_card(1);
  vulkan::Queue queue(context), up(context, Engine::uploading);
  const vulkan::Allocation a = allocate(256), b = allocate(256);
  upload(up, b, 2);
  const auto copied = up.record();
  bool is_done = false;
  fill(queue, a, 1, [&] { is_done = true; });
  queue.record()->wait(-1);
  EXPECT_TRUE(is_done);
  EXPECT_FALSE(copied->done());
  EXPECT_EQ(outcome_of([&] { copied->wait(1'000'000); }).code, FE_TIMEOUT);
  let_go();
  copied->wait(-1);
}

TEST_F(VulkanEngines, UploadDoesNotWaitForAWaitingDownload) {
  open_held_card(0);
  vulkan::Queue queue(context), up(context, Engine::uploading), down(context, Engine::downloading);
  const vulkan::Allocation a = allocate(256), b = allocate(256);
  auto* const to = static_cast<uint32_t*>(context->host_allocations().allocate(256));
  *to = 0;
  fill(queue, a, 1);
  order(queue, down);
  down.copy_to_host(to, a, 0, 256);  // does not wait for it here
  const auto downloaded = down.record();
  upload(up, b, 2);
  up.record()->wait(-1);
  EXPECT_FALSE(downloaded->done());
  EXPECT_EQ(*to, 0u);
  let_go();
  downloaded->wait(-1);
  EXPECT_EQ(*to, 1u);
  context->host_allocations().free(to);
}

TEST_F(VulkanEngines, WorkAfterAQueueWaitRunsInOrder) {
  for (const auto& [computing, copying] : {std::pair{3, 0}, {0, 3}, {0, 0}}) {
    open_card(computing, copying);
    {
      std::mt19937 random(5);
      vulkan::Queue queue(context), up(context, Engine::uploading), down(context, Engine::downloading);
      std::vector<vulkan::Allocation> memory(4);
      for (vulkan::Allocation& part : memory) part = allocate(1000);
      std::vector<uint32_t> expected(memory.size(), 0);
      for (size_t i = 0; i < memory.size(); ++i) fill(queue, memory[i], 0);
      std::array<vulkan::Queue*, 3> queues = {&queue, &up, &down};
      size_t last = 0;
      const auto next = [&](size_t which) -> vulkan::Queue& {
        if (which != last) order(*queues[last], *queues[which]);
        return *queues[last = which];
      };
      for (uint32_t turn = 1; turn <= 200; ++turn) {
        const size_t to = random() % memory.size(), from = random() % memory.size(), other = random() % 3;
        switch (random() % 5) {
          case 0:
          case 1:
            fill(next(0), memory[to], expected[to] = turn);
            break;
          case 2:
            upload(next(1), memory[to], expected[to] = turn);
            break;
          case 3:
            next(other).copy(memory[to], 0, memory[from], 0, memory[to].size);
            expected[to] = expected[from];
            break;
          default:
            EXPECT_EQ(last_word(next(2), memory[to]), expected[to]) << turn;
        }
      }
      for (size_t i = 0; i < memory.size(); ++i) EXPECT_EQ(last_word(next(2), memory[i]), expected[i]);
    }
    close();
  }
}

TEST_F(VulkanEngines, MemoryBorrowedTwiceIsAccessedInOrder) {
  open_card(30, 0);
  const uint64_t page = context->physical().borrow_alignment;
  if (page == 0) GTEST_SKIP() << "the driver borrows nothing";
  const std::unique_ptr<void, decltype(&std::free)> host(std::aligned_alloc(page, 2 * page), &std::free);
  vulkan::Queue queue(context);
  const vulkan::Allocation a = context->memory().borrow(host.get(), 2 * page);
  const vulkan::Allocation b = context->memory().borrow(static_cast<char*>(host.get()) + page, page);
  for (uint32_t turn = 1; turn <= 5; ++turn) {
    fill(queue, a, turn);
    EXPECT_EQ(last_word(queue, b), turn);
  }
}

TEST_F(VulkanEngines, DownloadAfterAFailedExecutionCompletes) {
  open_card(30, 0);
  vulkan::Queue queue(context);
  const vulkan::Allocation a = allocate(256);
  fill(queue, a, 1, [] { throw sdk::Error(FE_INVALID_ARGUMENT, "out of bounds"); });
  EXPECT_EQ(last_word(queue, a), 1u);
  EXPECT_EQ(outcome_of([&] { queue.record()->wait(-1); }).message, "out of bounds");
}

TEST_F(VulkanEngines, CopyQueueRefusesExecutions) {
  open_card(0, 0);
  vulkan::Queue up(context, Engine::uploading);
  const vulkan::Allocation a = allocate(256);
  EXPECT_EQ(outcome_of([&] { fill(up, a, 1); }).code, FE_INVALID_ARGUMENT);
}

TEST_F(VulkanEngines, DestroyingAQueueWaitsForItsWork) {
  for (const auto& [computing, copying] : {std::pair{100, 0}, {0, 100}}) {
    open_card(computing, copying);
    {
      const vulkan::Allocation a = allocate(256), b = allocate(256);
      {
        vulkan::Queue queue(context), up(context, Engine::uploading);
        fill(queue, a, 1);
        upload(up, b, 2);
      }
      vulkan::Queue queue(context);
      EXPECT_EQ(last_word(queue, a), 1u);
      EXPECT_EQ(last_word(queue, b), 2u);
    }
    close();
  }
}

// The device's host memory is read and written in queue order, not when the copy is submitted.
TEST_F(VulkanEngines, CopiesOfHostMemoryFollowTheQueueOrder) {
  for (const bool is_card : {true, false}) {
    if (is_card)
      open_card(2, 0);
    else
      open_plain();
    {
      vulkan::Queue queue(context);
      std::vector<vulkan::Allocation> memory(2);
      for (vulkan::Allocation& part : memory) part = allocate(4096);
      std::array<uint32_t*, 2> host{};
      for (uint32_t*& words : host) words = static_cast<uint32_t*>(context->host_allocations().allocate(8192));
      for (uint32_t turn = 1; turn <= 30; ++turn) {
        fill(queue, memory[0], turn);
        queue.copy_to_host(host[0], memory[0], 0, 4096);
        queue.copy_from_host(memory[1], 0, host[0], 4096);        // reads what the line before writes
        queue.copy_to_host(host[1] + 1024, memory[1], 0, 4096);   // at an offset
        queue.copy_from_host(memory[0], 0, host[1] + 1024, 256);  // a partial range
        queue.record()->wait(-1);
        EXPECT_EQ(host[0][1023], turn);
        EXPECT_EQ(host[1][2047], turn);
        EXPECT_EQ(last_word(queue, memory[1]), turn);
      }
      for (uint32_t* words : host) context->host_allocations().free(words);
    }
    close();
  }
}

TEST_F(VulkanEngines, FreedHostMemoryStaysUntilItsCopiesAreDone) {
  open_card(0, 50);
  vulkan::Queue up(context, Engine::uploading);
  const vulkan::Allocation a = allocate(4096);
  vulkan::HostAllocations& host = context->host_allocations();
  auto* const words = static_cast<uint32_t*>(host.allocate(4096));
  std::fill_n(words, 1024, 7u);
  up.copy_from_host(a, 0, words, 4096);
  host.free(words);
  EXPECT_EQ(host.find(words, 4096).memory, nullptr);
  auto* const others = static_cast<uint32_t*>(host.allocate(4096));
  std::fill_n(others, 1024, 8u);
  EXPECT_EQ(last_word(up, a), 7u);
  host.free(others);
  host.free(others);  // memory that is no longer registered
}

TEST_F(VulkanEngines, HostMemoryIsFoundByAnyAddressWithinIt) {
  open_plain();
  vulkan::HostAllocations& host = context->host_allocations();
  auto* const bytes = static_cast<std::byte*>(host.allocate(1000));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(bytes) % 64, 0u);
  EXPECT_EQ(host.find(bytes, 1000).offset, 0u);
  EXPECT_NE(host.find(bytes, 1000).memory, nullptr);
  EXPECT_EQ(host.find(bytes + 999, 1).offset, 999u);
  EXPECT_EQ(host.find(bytes - 1, 1).memory, nullptr);
  EXPECT_EQ(host.find(bytes + 10, 1 << 20).memory, nullptr);
  EXPECT_EQ(host.find(bytes, UINT64_MAX).memory, nullptr);
  host.free(bytes);
}

// Readings of the host's clock before and after are the oracle.
TEST_F(VulkanEngines, EventsAreDoneWhenTheQueueHasPassedThem) {
  open_card(20, 5);
  ASSERT_TRUE(context->tells_times(Engine::computing));
  vulkan::Queue queue(context), up(context, Engine::uploading);
  const vulkan::Allocation a = allocate(1 << 20), b = allocate(1 << 20);
  const uint64_t before = sdk::monotonic_ns();
  const auto empty = queue.record();
  fill(queue, a, 1);
  const auto first = queue.record();
  fill(queue, a, 2);
  const auto second = queue.record();
  upload(up, b, 3);
  const auto uploaded = up.record();
  uploaded->wait(-1);
  second->wait(-1);
  const uint64_t after = sdk::monotonic_ns();
  const std::array<uint64_t, 5> times = {before, empty->time(), first->time(), second->time(), after};
  EXPECT_TRUE(std::is_sorted(times.begin(), times.end()));
  EXPECT_GE(first->time(), before + 20'000'000);
  EXPECT_GE(second->time(), first->time() + 20'000'000);
  EXPECT_GE(uploaded->time(), before + 5'000'000);
  EXPECT_LE(uploaded->time(), after);
}

TEST(VulkanAllocationSet, IntersectsASetWithAnAllocationInCommon) {
  vulkan::Allocation a, b, c;
  a.address = 1, b.address = 2, c.address = 3;
  using vulkan::AllocationSet;
  EXPECT_TRUE(AllocationSet({&a, &b}).intersects({&b}));
  EXPECT_FALSE(AllocationSet({&a}).intersects({&b, &c}));
  EXPECT_FALSE(AllocationSet().intersects(AllocationSet()));
}

}  // namespace
}  // namespace ferrule::test
