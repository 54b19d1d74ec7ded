// A queue of a card that copies beside its computing: what waits for what.
#include "vulkan_card.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>

namespace ferrule::test {
namespace {

class VulkanEngines : public VulkanCard {};

TEST_F(VulkanEngines, ACopyGoesOnBesideAnExecutionThatTouchesOtherMemory) {
  open_card(1000, 0);
  vulkan::Queue queue(context);
  const vulkan::Allocation a = allocate(256), b = allocate(256), c = allocate(256);
  fill(queue, a, 1);
  const auto executed = queue.record();
  upload(queue, b, 2);
  queue.copy(c, 0, b, 0, b.size);
  EXPECT_EQ(last_word(queue, c), 2u);
  EXPECT_FALSE(executed->done());
  EXPECT_FALSE(queue.record()->done());
  EXPECT_EQ(last_word(queue, a), 1u);
  EXPECT_TRUE(executed->done());
}

TEST_F(VulkanEngines, AnExecutionGoesOnBesideACopyThatTouchesOtherMemory) {
  open_card(0, 1000);
  vulkan::Queue queue(context);
  const vulkan::Allocation a = allocate(256), b = allocate(256);
  upload(queue, b, 2);
  std::atomic<bool> is_done{false};
  fill(queue, a, 1, [&] { is_done = true; });
  const auto both = queue.record();
  for (int i = 0; i < 900 && !is_done; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    fill(queue, a, 1);  // who submits runs what is to be run after
  }
  EXPECT_TRUE(is_done);
  EXPECT_FALSE(both->done());
  EXPECT_EQ(outcome_of([&] { both->wait(1'000'000); }).code, FE_TIMEOUT);
  both->wait(-1);
  EXPECT_EQ(last_word(queue, b), 2u);
}

TEST_F(VulkanEngines, WhatTouchesTheSameMemoryIsDoneInOrder) {
  for (const auto& [computing, copying] : {std::pair{3, 0}, {0, 3}, {0, 0}}) {
    open_card(computing, copying);
    {
      std::mt19937 random(5);
      vulkan::Queue queue(context);
      std::vector<vulkan::Allocation> memory(4);
      for (vulkan::Allocation& part : memory) part = allocate(1000);
      std::vector<uint32_t> expected(memory.size(), 0);
      for (size_t i = 0; i < memory.size(); ++i) fill(queue, memory[i], 0);
      for (uint32_t turn = 1; turn <= 200; ++turn) {
        const size_t to = random() % memory.size(), from = random() % memory.size();
        switch (random() % 5) {
          case 0:
          case 1:
            fill(queue, memory[to], expected[to] = turn);
            break;
          case 2:
            upload(queue, memory[to], expected[to] = turn);
            break;
          case 3:
            queue.copy(memory[to], 0, memory[from], 0, memory[to].size);
            expected[to] = expected[from];
            break;
          default:
            EXPECT_EQ(last_word(queue, memory[to]), expected[to]) << turn;
        }
      }
      for (size_t i = 0; i < memory.size(); ++i) EXPECT_EQ(last_word(queue, memory[i]), expected[i]);
    }
    close();
  }
}

TEST_F(VulkanEngines, WhoDoesNotTellWhatItTouchesIsWaitedForByAll) {
  open_card(100, 0);
  vulkan::Queue queue(context);
  const vulkan::Allocation a = allocate(256), b = allocate(256);
  queue.submit(vulkan::Touched::everything(), [&](VkCommandBuffer commands) {
    context->api().CmdFillBuffer(commands, a.buffer, a.offset, a.size, 7);
  });
  const auto executed = queue.record();
  upload(queue, b, 2);
  EXPECT_EQ(last_word(queue, b), 2u);
  EXPECT_TRUE(executed->done());
  EXPECT_EQ(last_word(queue, a), 7u);
}

TEST_F(VulkanEngines, MemoryThatIsBorrowedTwiceIsOne) {
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

TEST_F(VulkanEngines, AnErrorIsThatOfItsSpanThoughACopyOfTheNextIsDoneBefore) {
  open_card(1000, 0);
  vulkan::Queue queue(context);
  const vulkan::Allocation a = allocate(256), b = allocate(256);
  upload(queue, b, 2);
  const auto before = queue.record();
  fill(queue, a, 1, [] { throw sdk::Error(FE_INVALID_ARGUMENT, "out of bounds"); });
  upload(queue, b, 3);
  const auto with_error = queue.record();
  EXPECT_EQ(last_word(queue, b), 3u);
  EXPECT_FALSE(with_error->done());
  upload(queue, b, 4);
  const auto behind = queue.record();
  EXPECT_EQ(outcome_of([&] { behind->wait(-1); }).code, FE_OK);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(outcome_of([&] { with_error->wait(-1); }).message, "out of bounds");
  EXPECT_EQ(outcome_of([&] { before->wait(-1); }).code, FE_OK);
  EXPECT_EQ(last_word(queue, b), 4u);
  EXPECT_EQ(last_word(queue, a), 1u);
}

TEST_F(VulkanEngines, ADownloadOfWhatAnExecutionGotWrongIsDone) {
  open_card(30, 0);
  vulkan::Queue queue(context);
  const vulkan::Allocation a = allocate(256);
  fill(queue, a, 1, [] { throw sdk::Error(FE_INVALID_ARGUMENT, "out of bounds"); });
  EXPECT_EQ(last_word(queue, a), 1u);
  EXPECT_EQ(outcome_of([&] { queue.record()->wait(-1); }).message, "out of bounds");
}

TEST_F(VulkanEngines, AFillGoesOnBesideAnExecutionThatTouchesOtherMemory) {
  open_card(1000, 0);
  vulkan::Queue queue(context);
  const vulkan::Allocation a = allocate(256), b = allocate(256);
  fill(queue, a, 1);
  const auto executed = queue.record();
  const std::byte word[] = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  queue.fill(b, 0, word, b.size);
  EXPECT_EQ(last_word(queue, b), 0x04030201u);
  EXPECT_FALSE(executed->done());
  queue.fill(a, 0, word, a.size);
  EXPECT_EQ(last_word(queue, a), 0x04030201u);
  EXPECT_TRUE(executed->done());
}

TEST_F(VulkanEngines, AQueueThatIsDestroyedWaitsForBoth) {
  for (const auto& [computing, copying] : {std::pair{100, 0}, {0, 100}}) {
    open_card(computing, copying);
    {
      const vulkan::Allocation a = allocate(256), b = allocate(256);
      {
        vulkan::Queue queue(context);
        fill(queue, a, 1);
        upload(queue, b, 2);
      }
      vulkan::Queue queue(context);
      EXPECT_EQ(last_word(queue, a), 1u);
      EXPECT_EQ(last_word(queue, b), 2u);
    }
    close();
  }
}

TEST(VulkanTouched, MeetsWhatHasAnAllocationInCommon) {
  vulkan::Allocation a, b, borrowed, borrowed_too;
  a.address = 1, b.address = 2, borrowed.address = 3, borrowed_too.address = 4;
  borrowed.is_borrowed = borrowed_too.is_borrowed = true;
  using vulkan::Touched;
  EXPECT_TRUE(Touched({&a, &b}).meets({&b}));
  EXPECT_FALSE(Touched({&a}).meets({&b, &borrowed}));
  EXPECT_FALSE(Touched().meets(Touched()));
  EXPECT_TRUE(Touched({&borrowed}).meets({&borrowed_too}));
  EXPECT_TRUE(Touched::everything().meets({&a}));
  EXPECT_TRUE(Touched({&a}).meets(Touched::everything()));
}

}  // namespace
}  // namespace ferrule::test
