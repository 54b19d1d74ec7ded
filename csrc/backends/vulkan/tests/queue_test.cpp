// One queue of the Vulkan backend: order, lifetimes, errors found late, and fills. See waits_test.cpp for several
// queues.
#include "device_fixture.h"

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>

namespace ferrule::test {
namespace {

class VulkanQueue : public VulkanContext {
 protected:
  uint32_t first_word(vulkan::Queue& queue, const vulkan::Allocation& from) {
    uint32_t word = 0;
    queue.copy_to_host(&word, from, 0, sizeof word);
    return word;
  }
};

TEST_F(VulkanQueue, WorkRunsInSubmissionOrder) {
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

TEST_F(VulkanQueue, ReleasesResourcesWhenTheWorkIsDone) {
  vulkan::Queue queue(context);
  const vulkan::Allocation a = allocate(64 << 20);
  auto kept = std::make_shared<int>();
  const std::weak_ptr<int> seen = kept;
  fill(queue, a, 1, {}, std::move(kept));
  EXPECT_FALSE(seen.expired());
  queue.record()->wait(-1);
  EXPECT_TRUE(seen.expired());
}

TEST_F(VulkanQueue, ResetReturnsWhenTheWorkIsDone) {
  vulkan::Queue queue(context);
  const vulkan::Allocation a = allocate(64 << 20);
  fill(queue, a, 1);
  const auto event = queue.record();
  queue.reset();
  EXPECT_TRUE(event->done());
}

TEST_F(VulkanQueue, ErrorBelongsToTheNextEventOnlyAndLaterWorkCompletes) {
  vulkan::Queue queue(context);
  const vulkan::Allocation a = allocate(256), b = allocate(256);
  fill(queue, a, 1);
  const auto before = queue.record();
  std::atomic<int> asked{0};
  fill(queue, a, 2, [&] {
    ++asked;
    throw sdk::Error(FE_INVALID_ARGUMENT, "take: the index 7 is out of bounds");
  });
  const auto behind = queue.record();
  const auto empty = queue.record();
  fill(queue, a, 3);
  queue.copy(b, 0, a, 0, a.size);
  const auto later = queue.record();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(outcome_of([&] { later->wait(-1); }).code, FE_OK);
    EXPECT_EQ(outcome_of([&] { empty->wait(-1); }).code, FE_OK);
    EXPECT_EQ(outcome_of([&] { behind->wait(-1); }).message, "take: the index 7 is out of bounds");
    EXPECT_EQ(outcome_of([&] { before->wait(-1); }).code, FE_OK);
  }
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(first_word(queue, b), 3u);
  EXPECT_EQ(outcome_of([&] { queue.record()->wait(-1); }).code, FE_OK);
  EXPECT_EQ(outcome_of([&] { behind->wait(-1); }).code, FE_INVALID_ARGUMENT);
}

TEST_F(VulkanQueue, FirstOfTwoErrorsBetweenEventsIsReported) {
  vulkan::Queue queue(context);
  const vulkan::Allocation a = allocate(256);
  int asked = 0;
  const auto failing = [&](const char* message) {
    return [&asked, message] {
      ++asked;
      throw sdk::Error(FE_INVALID_ARGUMENT, message);
    };
  };
  fill(queue, a, 1, failing("the first"));
  fill(queue, a, 2, failing("the second"));
  const auto both = queue.record();
  fill(queue, a, 3, failing("the third"));
  const auto third = queue.record();
  EXPECT_EQ(outcome_of([&] { third->wait(-1); }).message, "the third");
  EXPECT_EQ(outcome_of([&] { both->wait(-1); }).message, "the first");
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(first_word(queue, a), 3u);
}

TEST_F(VulkanQueue, ErrorFoundBeforeAnEventBelongsToItUnlessReset) {
  vulkan::Queue queue(context);
  const vulkan::Allocation a = allocate(256);
  const auto fail = [] { throw sdk::Error(FE_INTERNAL, "found early"); };
  for (const bool is_reset : {false, true}) {
    fill(queue, a, 1, fail);
    EXPECT_EQ(first_word(queue, a), 1u);
    if (is_reset) queue.reset();
    EXPECT_EQ(outcome_of([&] { queue.record()->wait(-1); }).code, is_reset ? FE_OK : FE_INTERNAL);
  }
}

TEST_F(VulkanQueue, AllThreadsWaitingForAnEventGetItsError) {
  vulkan::Queue queue(context);
  const vulkan::Allocation a = allocate(1 << 20);
  std::atomic<int> right_answers{0}, asked{0};
  for (int turn = 0; turn < 20; ++turn) {
    fill(queue, a, 1);
    const auto before = queue.record();
    fill(queue, a, 2, [&] {
      ++asked;
      throw sdk::Error(FE_INVALID_ARGUMENT, "out of bounds");
    });
    const auto event = queue.record();
    std::vector<std::thread> threads;
    threads.reserve(2);
    for (int i = 0; i < 2; ++i)
      threads.emplace_back([&] {
        if (outcome_of([&] { event->wait(-1); }).message == "out of bounds") ++right_answers;
        if (outcome_of([&] { before->wait(-1); }).code == FE_OK) ++right_answers;
      });
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(right_answers, 20 * 4);
  EXPECT_EQ(asked, 20);
}

TEST_F(VulkanQueue, UploadsThroughStagingSucceedWhileWorkFails) {
  vulkan::Queue queue(context);
  vulkan::Allocation far = allocate(256);
  far.host = nullptr;  // forces a copy through staging memory
  const auto fail = [] { throw sdk::Error(FE_INTERNAL, "of the past"); };
  fill(queue, far, 1, fail);
  uint32_t word = 2;
  for (int i = 0; i < 4; ++i) queue.copy_from_host(far, 0, &word, sizeof word);
  EXPECT_EQ(outcome_of([&] { queue.record()->wait(-1); }).message, "of the past");
  EXPECT_EQ(first_word(queue, far), 2u);
  word = 3;
  for (int i = 0; i < 4; ++i) queue.copy_from_host(far, 0, &word, sizeof word);
  EXPECT_EQ(first_word(queue, far), 3u);
  EXPECT_EQ(outcome_of([&] { queue.record()->wait(-1); }).code, FE_OK);
}

TEST_F(VulkanQueue, ErrorDuringRecordingIsReturnedToTheCaller) {
  vulkan::Queue queue(context);
  const vulkan::Allocation a = allocate(256);
  const auto fail = [](VkCommandBuffer) { throw sdk::Error(FE_INTERNAL, "not this way"); };
  EXPECT_EQ(outcome_of([&] { queue.submit({}, fail); }).message, "not this way");
  fill(queue, a, 5);
  EXPECT_EQ(first_word(queue, a), 5u);
}

TEST_F(VulkanQueue, LosesTheDeviceAtTheNthExecutionAlsoAfterAReset) {
  const fe_option lost = {sizeof(fe_option), "device_lost_at", "2"};
  context = std::make_shared<vulkan::OpenDevice>(instance, context->physical(), sdk::Options(&lost, 1));
  {
    vulkan::Queue queue(context);
    const vulkan::Allocation a = allocate(256);
    fill(queue, a, 1);
    const auto before = queue.record();
    fill(queue, a, 2);
    const auto event = queue.record();
    const auto after = queue.record();
    EXPECT_TRUE(event->done() && after->done() && before->done());
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(outcome_of([&] { event->wait(-1); }).code, FE_DEVICE_LOST);
      EXPECT_EQ(outcome_of([&] { after->wait(-1); }).code, FE_DEVICE_LOST);
      EXPECT_EQ(outcome_of([&] { before->wait(-1); }).code, FE_OK);
    }
    uint32_t word = 77;
    queue.copy_to_host(&word, a, 0, sizeof word);
    EXPECT_EQ(word, 77u);
    queue.copy_from_host(a, 0, &word, sizeof word);
    EXPECT_EQ(outcome_of([&] { queue.record()->wait(-1); }).code, FE_DEVICE_LOST);
    EXPECT_EQ(outcome_of([&] { queue.reset(); }).code, FE_DEVICE_LOST);
    fill(queue, a, 3);
    EXPECT_EQ(outcome_of([&] { queue.record()->wait(-1); }).code, FE_DEVICE_LOST);
    EXPECT_EQ(outcome_of([&] { before->wait(-1); }).code, FE_OK);
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
        fill(queue, a, number << 16 | turn, [&] { is_done = true; });
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

// Simulates a discrete card, whose memory the host cannot map.
TEST_F(VulkanQueue, CopiesToUnmappableMemoryUseStaging) {
  vulkan::Queue queue(context);
  vulkan::Allocation far = allocate((40 << 20) + 3);
  far.host = nullptr;
  std::vector<uint32_t> there(10 << 20), back(10 << 20);
  for (uint32_t i = 0; i < there.size(); ++i) there[i] = i * 2654435761u;
  queue.copy_from_host(far, 3, there.data(), there.size() * 4);
  queue.copy_to_host(back.data(), far, 3, back.size() * 4);
  EXPECT_TRUE(there == back);
}

// Fills between random bytes, in memory that the host can map and in memory that it cannot.
TEST_F(VulkanQueue, FillsWithPatternsOfEverySizeAtAnyPatternOffset) {
  constexpr size_t size = 300'000;
  vulkan::Queue queue(context);
  vulkan::Allocation near = allocate(size), far = allocate(size);
  far.host = nullptr;
  std::mt19937 random(3);
  const auto draw = [&] { return static_cast<std::byte>(random()); };
  std::vector<std::byte> around(size), found(size);
  std::generate(around.begin(), around.end(), draw);
  for (const size_t width : {1, 2, 4, 8, 16})
    for (const size_t count : {0, 1, 2, 3, 5, 16, 17, 15'000})
      for (const bool is_word : {false, true})
        for (const vulkan::Allocation* to : {&near, &far}) {
          std::vector<std::byte> expected = around, pattern(width);
          for (size_t i = 0; i < width; ++i) pattern[i] = is_word && i >= 4 ? pattern[i - 4] : draw();
          const size_t first = width * (2 * (random() % 100) + 1), bytes = width * count;
          queue.copy_from_host(*to, 0, expected.data(), size);
          queue.fill(*to, first, pattern, bytes);
          for (size_t i = 0; i < bytes; ++i) expected[first + i] = pattern[i % width];
          queue.copy_to_host(found.data(), *to, 0, size);
          EXPECT_TRUE(found == expected) << count << " patterns of " << width << " bytes from byte " << first;
        }
  EXPECT_EQ(outcome_of([&] { queue.record()->wait(-1); }).code, FE_OK);
}

TEST_F(VulkanQueue, FillsRunInSubmissionOrder) {
  vulkan::Queue queue(context);
  const vulkan::Allocation a = allocate(4096);
  std::vector<std::byte> expected(4096), found(4096);
  const std::byte zero[] = {std::byte{0}};
  queue.fill(a, 0, zero, found.size());
  for (int turn = 0; turn < 50; ++turn)
    for (const size_t width : {1, 16, 2, 8, 4}) {
      std::vector<std::byte> pattern(width);
      for (size_t i = 0; i < width; ++i) pattern[i] = static_cast<std::byte>(turn * 16 + static_cast<int>(i));
      const size_t first = 16 * static_cast<size_t>(turn % 7) + width, bytes = 2048 + 16 * width;
      queue.fill(a, first, pattern, bytes);
      for (size_t i = 0; i < bytes; ++i) expected[first + i] = pattern[i % width];
    }
  queue.copy_to_host(found.data(), a, 0, found.size());
  EXPECT_TRUE(found == expected);
}

TEST_F(VulkanQueue, ValidationLayerReportsErrors) {
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
  instance = std::make_shared<vulkan::Instance>(false);  // checked by TearDown
}

}  // namespace
}  // namespace ferrule::test
