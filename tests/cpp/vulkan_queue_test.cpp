// The queue of the Vulkan backend: order, what is kept alive, and errors that are found late.
#include "vulkan_fixture.h"

#include <atomic>
#include <thread>

namespace ferrule::test {
namespace {

class VulkanQueue : public VulkanContext {
 protected:
  void fill(vulkan::Queue& queue, const vulkan::Allocation& to, uint32_t word, std::shared_ptr<void> keep_alive = {},
            std::function<void()> after = {}) {
    queue.submit(
        {&to},
        [&](VkCommandBuffer commands) { context->api().CmdFillBuffer(commands, to.buffer, to.offset, to.size, word); },
        std::move(keep_alive), std::move(after));
  }
  uint32_t first_word(vulkan::Queue& queue, const vulkan::Allocation& from) {
    uint32_t word = 0;
    queue.copy_to_host(&word, from, 0, sizeof word);
    return word;
  }
};

TEST_F(VulkanQueue, DoesOneThingAfterTheOther) {
  vulkan::Queue queue(context);
  const vulkan::Allocation a = allocate(1 << 20), b = allocate(1 << 20);
  for (uint32_t turn = 0; turn < 200; ++turn) {
    fill(queue, a, turn);
    queue.copy(b, 0, a, 0, a.size);
    if (turn % 50 == 49) {
      EXPECT_EQ(first_word(queue, b), turn);
    }
  }
}

TEST_F(VulkanQueue, LetsGoOfWhatItKeptAliveWhenTheWorkIsDone) {
  vulkan::Queue queue(context);
  const vulkan::Allocation a = allocate(64 << 20);
  auto kept = std::make_shared<int>();
  const std::weak_ptr<int> seen = kept;
  fill(queue, a, 1, std::move(kept));
  EXPECT_FALSE(seen.expired());
  queue.record()->wait(-1);
  EXPECT_TRUE(seen.expired());
}

TEST_F(VulkanQueue, AResetReturnsWhenTheWorkIsDone) {
  vulkan::Queue queue(context);
  const vulkan::Allocation a = allocate(64 << 20);
  fill(queue, a, 1);
  const auto event = queue.record();
  queue.reset();
  EXPECT_TRUE(event->done());
}

TEST_F(VulkanQueue, AnErrorFoundAfterwardsIsThatOfTheWorkAndOfAllAfterItUntilReset) {
  vulkan::Queue queue(context);
  const vulkan::Allocation a = allocate(256);
  fill(queue, a, 1);
  const auto before = queue.record();
  std::atomic<int> asked{0};
  fill(queue, a, 2, {}, [&] {
    ++asked;
    throw sdk::Error(FE_INVALID_ARGUMENT, "take: the index 7 is out of bounds");
  });
  const auto behind = queue.record();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(outcome_of([&] { before->wait(-1); }).code, FE_OK);
    EXPECT_EQ(outcome_of([&] { behind->wait(-1); }).message, "take: the index 7 is out of bounds");
  }
  EXPECT_EQ(asked, 1);
  fill(queue, a, 3);  // is not done
  EXPECT_EQ(outcome_of([&] { queue.record()->wait(-1); }).code, FE_INVALID_ARGUMENT);
  queue.reset();
  EXPECT_EQ(outcome_of([&] { queue.record()->wait(-1); }).code, FE_OK);
  EXPECT_EQ(outcome_of([&] { behind->wait(-1); }).code, FE_INVALID_ARGUMENT);
  EXPECT_EQ(first_word(queue, a), 2u);
}

TEST_F(VulkanQueue, StagingMemoryThatAnErrorOfThePastUsedIsAsGoodAsNew) {
  vulkan::Queue queue(context);
  vulkan::Allocation far = allocate(256);
  far.host = nullptr;  // so that it is copied through staging memory
  const auto fail = [] { throw sdk::Error(FE_INTERNAL, "of the past"); };
  fill(queue, far, 1, {}, fail);
  const uint32_t word = 2;
  for (int i = 0; i < 2; ++i) queue.copy_from_host(far, 0, &word, sizeof word);
  EXPECT_EQ(outcome_of([&] { queue.record()->wait(-1); }).message, "of the past");
  queue.reset();
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(outcome_of([&] { queue.copy_from_host(far, 0, &word, sizeof word); }).code, FE_OK);
  EXPECT_EQ(first_word(queue, far), 2u);
}

TEST_F(VulkanQueue, AnErrorWhileCommandsAreRecordedIsTheCallers) {
  vulkan::Queue queue(context);
  const vulkan::Allocation a = allocate(256);
  const auto fail = [](VkCommandBuffer) { throw sdk::Error(FE_INTERNAL, "not this way"); };
  EXPECT_EQ(outcome_of([&] { queue.submit({}, fail); }).message, "not this way");
  fill(queue, a, 5);
  EXPECT_EQ(first_word(queue, a), 5u);
}

TEST_F(VulkanQueue, LosesTheDeviceAtTheNthExecutionUntilReset) {
  const fe_option lost = {sizeof(fe_option), "device_lost_at", "2"};
  context = std::make_shared<vulkan::Context>(instance, context->physical(), sdk::Options(&lost, 1));
  {
    vulkan::Queue queue(context);
    const vulkan::Allocation a = allocate(256);
    fill(queue, a, 1);
    const auto before = queue.record();
    fill(queue, a, 2);
    const auto event = queue.record();
    EXPECT_TRUE(event->done() || outcome_of([&] { event->wait(-1); }).code == FE_DEVICE_LOST);
    EXPECT_EQ(outcome_of([&] { event->wait(-1); }).code, FE_DEVICE_LOST);
    EXPECT_EQ(outcome_of([&] { before->wait(-1); }).code, FE_OK);
    uint32_t word = 77;
    queue.copy_to_host(&word, a, 0, sizeof word);
    EXPECT_EQ(word, 77u);
    EXPECT_EQ(outcome_of([&] { queue.record()->wait(-1); }).code, FE_DEVICE_LOST);
    queue.reset();
    EXPECT_EQ(first_word(queue, a), 1u);
    fill(queue, a, 3);
    EXPECT_EQ(first_word(queue, a), 3u);
  }
}

TEST_F(VulkanQueue, ManyQueuesAndManyWaitersAtOnce) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (uint32_t number = 1; number <= 3; ++number)
    threads.emplace_back([&, number] {
      vulkan::Queue queue(context);
      for (uint32_t turn = 0; turn < 20; ++turn) {
        const vulkan::Allocation a = allocate(1000 * number);
        std::atomic<bool> is_done{false};
        fill(queue, a, number << 16 | turn, {}, [&] { is_done = true; });
        const auto event = queue.record();
        std::thread waiter([&] {
          event->wait(-1);
          if (!is_done) ++wrong;
        });
        event->wait(-1);
        if (!is_done || first_word(queue, a) != (number << 16 | turn)) ++wrong;
        waiter.join();
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

// As on a card, whose memory the host cannot reach.
TEST_F(VulkanQueue, CopiesThroughStagingWhereTheHostCannotReachTheMemory) {
  vulkan::Queue queue(context);
  vulkan::Allocation far = allocate((40 << 20) + 3);
  far.host = nullptr;
  std::vector<uint32_t> there(10 << 20), back(10 << 20);
  for (uint32_t i = 0; i < there.size(); ++i) there[i] = i * 2654435761u;
  queue.copy_from_host(far, 3, there.data(), there.size() * 4);
  queue.copy_to_host(back.data(), far, 3, back.size() * 4);
  EXPECT_TRUE(there == back);
}

TEST_F(VulkanQueue, TheLayerSeesWhatIsWrong) {
  {
    const vulkan::Allocation a = allocate(256);
    vulkan::Queue queue(context);
    queue.submit({&a}, [&](VkCommandBuffer commands) {
      context->api().CmdFillBuffer(commands, a.buffer, a.offset + 1, 4, 0);  // not a multiple of four
    });
    queue.record()->wait(-1);
  }
  EXPECT_TRUE(instance->take_finding());
  const auto lines = Log::instance().take();
  ASSERT_GE(lines.size(), 1u);
  EXPECT_NE(lines[0].find("vkCmdFillBuffer"), std::string::npos) << lines[0];
  instance = std::make_shared<vulkan::Instance>(false);  // what TearDown looks at
}

}  // namespace
}  // namespace ferrule::test
