// Queues of one device that wait for each other's events: on the software driver, where they share one Vulkan queue,
// and on a card that copies and computes in parallel.
#include "card.h"

#include <array>
#include <atomic>
#include <thread>

namespace ferrule::test {
namespace {

class VulkanWaits : public VulkanCard {
 protected:
  // Runs `test(turns)`, with fewer turns if each turn is slow.
  template <class Test>
  void on_each_device(const Test& test) {
    open_plain();
    test(200);
    close();
    for (const auto& [computing, copying] : {std::pair{3, 0}, {0, 3}, {0, 0}}) {
      open_card(computing, copying);
      test(computing + copying > 0 ? 20 : 100);
      close();
    }
  }
  void copy_all(vulkan::Queue& queue, const vulkan::Allocation& to, const vulkan::Allocation& from) {
    queue.copy(to, 0, from, 0, from.size);
  }
};

// The host waits only at the end: an error in one turn persists.
TEST_F(VulkanWaits, TwoQueuesReadEachOthersResultsInTurn) {
  on_each_device([&](uint32_t turns) {
    vulkan::Queue first(context), second(context);
    const vulkan::Allocation a = allocate(1 << 16), b = allocate(1 << 16), c = allocate(1 << 16);
    const vulkan::Allocation results = allocate(turns * sizeof(uint32_t));
    for (uint32_t turn = 0; turn < turns; ++turn) {
      fill(first, a, turn);
      for (int i = 0; i < 2; ++i) {
        copy_all(first, b, a);
        copy_all(first, a, b);
      }
      copy_all(first, c, a);
      second.wait_for(*first.record());
      second.copy(results, turn * sizeof turn, c, c.size - sizeof turn, sizeof turn);
      first.wait_for(*second.record());
    }
    std::vector<uint32_t> found(turns);
    second.copy_to_host(found.data(), results, 0, turns * sizeof(uint32_t));
    for (uint32_t turn = 0; turn < turns; ++turn) ASSERT_EQ(found[turn], turn);
    for (vulkan::Queue* queue : {&first, &second})
      EXPECT_EQ(outcome_of([&] { queue->record()->wait(-1); }).code, FE_OK);
  });
}

// If the host can map the memory, these copies submit nothing.
TEST_F(VulkanWaits, HostAccessForAQueueHappensAfterItsWait) {
  on_each_device([&](uint32_t turns) {
    vulkan::Queue first(context), second(context);
    const vulkan::Allocation a = allocate(1 << 20), b = allocate(1 << 20);
    for (uint32_t turn = 0; turn < turns / 2; ++turn) {
      fill(first, a, turn);
      const auto filled = first.record();
      second.wait_for(*filled);
      EXPECT_EQ(last_word(second, a), turn);
      fill(first, a, turn + 1000);
      copy_all(first, b, a);
      const auto copied = first.record();
      second.wait_for(*copied);
      upload(second, a, turn + 2000);
      first.wait_for(*second.record());
      EXPECT_EQ(last_word(first, b), turn + 1000);
      EXPECT_EQ(last_word(first, a), turn + 2000);
    }
  });
}

TEST_F(VulkanWaits, EventAfterAWaitIncludesTheAwaitedWork) {
  open_held_card(0);
  vulkan::Queue first(context), second(context), third(context);
  const vulkan::Allocation a = allocate(256);
  fill(first, a, 7);
  const auto filled = first.record();
  second.wait_for(*filled);
  const auto behind = second.record();
  EXPECT_FALSE(filled->done());
  EXPECT_FALSE(behind->done());
  let_go();
  third.wait_for(*behind);
  EXPECT_EQ(last_word(third, a), 7u);
  EXPECT_TRUE(filled->done());
  EXPECT_EQ(outcome_of([&] { behind->wait(-1); }).code, FE_OK);
}

TEST_F(VulkanWaits, WaitsForEventsWithoutWorkSucceed) {
  on_each_device([&](uint32_t) {
    vulkan::Queue queue(context), other(context);
    const vulkan::Allocation a = allocate(1 << 16), b = allocate(1 << 16);
    const auto expect_right = [&](vulkan::Queue& waiting, sdk::Event& event, uint32_t word) {
      waiting.wait_for(event);
      copy_all(waiting, b, a);
      EXPECT_EQ(last_word(waiting, b), word);
      EXPECT_EQ(outcome_of([&] { waiting.record()->wait(-1); }).code, FE_OK);
    };
    fill(queue, a, 1);
    expect_right(queue, *queue.record(), 1);  // its own event
    fill(queue, a, 2);
    const auto passed = queue.record();
    passed->wait(-1);
    expect_right(other, *passed, 2);
    expect_right(other, *passed, 2);
    expect_right(other, *vulkan::Queue(context).record(), 2);
    std::unique_ptr<sdk::Event> last;
    {
      vulkan::Queue gone(context);
      fill(gone, a, 3);
      last = gone.record();
    }
    expect_right(other, *last, 3);
  });
}

// Semaphores are kept while a queue waits for them.
TEST_F(VulkanWaits, QueueMayBeDestroyedWhileAnotherWaitsForItsEvent) {
  open_card(20, 0);
  vulkan::Queue waiting(context);
  const vulkan::Allocation a = allocate(256), b = allocate(256);
  for (uint32_t turn = 0; turn < 5; ++turn) {
    {
      vulkan::Queue gone(context);
      fill(gone, a, turn);
      waiting.wait_for(*gone.record());
      if (turn % 2 == 0) copy_all(waiting, b, a);
    }
    if (turn % 2 != 0) copy_all(waiting, b, a);
    EXPECT_EQ(last_word(waiting, b), turn);
  }
}

TEST_F(VulkanWaits, EventOfAnotherOpenDeviceIsRefused) {
  open_plain();
  const auto other = std::make_shared<vulkan::OpenDevice>(instance, context->physical(), sdk::Options(nullptr, 0));
  vulkan::Queue queue(context), far(other);
  const auto event = far.record();
  const Outcome refused = outcome_of([&] { queue.wait_for(*event); });
  EXPECT_EQ(refused.code, FE_UNSUPPORTED);
  EXPECT_NE(refused.message.find("cannot wait for an event of another device"), std::string::npos) << refused.message;
  const vulkan::Allocation a = allocate(256);
  fill(queue, a, 5);
  EXPECT_EQ(last_word(queue, a), 5u);
}

TEST_F(VulkanWaits, ErrorStaysWithItsQueue) {
  on_each_device([&](uint32_t) {
    vulkan::Queue first(context), second(context);
    const vulkan::Allocation a = allocate(256), b = allocate(256);
    fill(first, a, 1, [] { throw sdk::Error(FE_INVALID_ARGUMENT, "out of bounds"); });
    const auto failed = first.record();
    second.wait_for(*failed);
    copy_all(second, b, a);
    const auto behind = second.record();
    EXPECT_EQ(outcome_of([&] { behind->wait(-1); }).code, FE_OK);
    EXPECT_EQ(last_word(second, b), 1u);
    EXPECT_EQ(outcome_of([&] { failed->wait(-1); }).message, "out of bounds");
  });
}

TEST_F(VulkanWaits, ThreadsWithAQueueEachPassAValueOn) {
  on_each_device([&](uint32_t turns) {
    const vulkan::Allocation a = allocate(256), b = allocate(256);
    std::array<std::unique_ptr<sdk::Event>, 3> last;
    std::array<std::unique_ptr<vulkan::Queue>, 3> queues;
    for (auto& queue : queues) queue = std::make_unique<vulkan::Queue>(context);
    upload(*queues[2], a, 0);
    last[2] = queues[2]->record();
    std::atomic<uint32_t> turn{0}, wrong{0};
    std::vector<std::thread> threads;
    threads.reserve(queues.size());
    for (size_t number = 0; number < queues.size(); ++number)
      threads.emplace_back([&, number] {
        vulkan::Queue& queue = *queues[number];
        for (uint32_t mine = static_cast<uint32_t>(number); mine < turns; mine += 3) {
          while (turn != mine) std::this_thread::yield();
          queue.wait_for(*last[(number + 2) % 3]);
          if (last[number] && outcome_of([&] { last[number]->wait(-1); }).code != FE_OK) ++wrong;
          copy_all(queue, b, a);
          fill(queue, a, mine + 1);
          last[number] = queue.record();
          turn = mine + 1;
        }
      });
    for (std::thread& thread : threads) thread.join();
    vulkan::Queue& last_one = *queues[(turns - 1) % 3];
    EXPECT_EQ(wrong, 0u);
    EXPECT_EQ(last_word(last_one, b), turns - 1);
    EXPECT_EQ(last_word(last_one, a), turns);
  });
}

TEST_F(VulkanWaits, LostDeviceFailsAllItsQueuesWithoutHanging) {
  open_plain();
  const fe_option option = {sizeof(fe_option), "device_lost_at", "2"};
  context = std::make_shared<vulkan::OpenDevice>(instance, context->physical(), sdk::Options(&option, 1));
  const auto code_of = [](sdk::Event& event) { return outcome_of([&] { event.wait(-1); }).code; };
  {
    vulkan::Queue first(context), second(context), third(context);
    const vulkan::Allocation a = allocate(1 << 20), b = allocate(1 << 20);
    fill(first, a, 1);
    const auto before = first.record();
    second.wait_for(*before);
    copy_all(second, b, a);
    const auto pending = second.record();
    fe_code waited = FE_INTERNAL;
    std::thread waiter([&] { waited = code_of(*pending); });
    fill(first, a, 2);  // still pending
    const auto lost = first.record();
    second.wait_for(*lost);
    copy_all(second, b, a);
    const auto behind = second.record();
    EXPECT_TRUE(lost->done() && behind->done() && pending->done());
    EXPECT_EQ(code_of(*before), FE_OK);
    EXPECT_EQ(code_of(*lost), FE_DEVICE_LOST);
    EXPECT_EQ(code_of(*behind), FE_DEVICE_LOST);
    waiter.join();
    EXPECT_TRUE(waited == FE_OK || waited == FE_DEVICE_LOST) << waited;
    fill(third, a, 3);  // also still pending
    EXPECT_EQ(code_of(*third.record()), FE_DEVICE_LOST);

    EXPECT_EQ(outcome_of([&] { first.reset(); }).code, FE_DEVICE_LOST);
    for (vulkan::Queue* queue : {&second, &third, &first}) {
      fill(*queue, a, 4);
      EXPECT_EQ(code_of(*queue->record()), FE_DEVICE_LOST);
    }
    EXPECT_EQ(code_of(*lost), FE_DEVICE_LOST);
    EXPECT_EQ(code_of(*behind), FE_DEVICE_LOST);
  }
}

}  // namespace
}  // namespace ferrule::test
