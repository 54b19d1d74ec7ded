// Queues, command buffers, copies and events.
#include <chrono>
#include <numeric>
#include <thread>

#include "machine.h"

namespace {

class MetalCommands : public Machine {};

TEST_F(MetalCommands, CopiesRunWhenTheBufferIsCommitted) {
  const Id from = new_buffer(16), to = new_buffer(16, private_to_device), back = new_buffer(16);
  std::iota(contents<std::uint8_t>(from), contents<std::uint8_t>(from) + 16, 0);
  const Id commands = command_buffer();
  copy(commands, from, 4, to, 0, 8);
  copy(commands, to, 0, back, 8, 8);
  EXPECT_EQ(send<Number>(commands, "status"), not_enqueued);
  EXPECT_EQ(contents<std::uint8_t>(back)[8], 0xff);
  EXPECT_EQ(finish(commands), completed);
  EXPECT_EQ(send<Id>(commands, "error"), nullptr);
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(contents<std::uint8_t>(back)[i], 0xff);
    EXPECT_EQ(contents<std::uint8_t>(back)[8 + i], 4 + i);
  }
  for (const Id buffer : {from, to, back}) release(buffer);
}

TEST_F(MetalCommands, BuffersOfAQueueRunInTheOrderOfTheirCommits) {
  const Id buffer = new_buffer(4);
  std::vector<Id> all;
  for (std::uint8_t i = 0; i < 20; ++i) {
    all.push_back(command_buffer());
    fill(all.back(), buffer, {0, 4}, i);
  }
  for (const Id one : all) send<void>(one, "commit");
  send<void>(all.back(), "waitUntilCompleted");
  for (const Id one : all) EXPECT_EQ(send<Number>(one, "status"), completed);
  EXPECT_EQ(contents<std::uint8_t>(buffer)[0], 19);
  release(buffer);
}

TEST_F(MetalCommands, EnqueuedBufferKeepsItsPlace) {
  const Id buffer = new_buffer(4);
  const Id first = command_buffer(), second = command_buffer();
  send<void>(first, "enqueue");
  EXPECT_EQ(send<Number>(first, "status"), enqueued);
  fill(first, buffer, {0, 4}, 1);
  fill(second, buffer, {0, 4}, 2);
  send<void>(second, "commit");
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(send<Number>(second, "status"), committed);
  send<void>(first, "commit");
  send<void>(second, "waitUntilCompleted");
  EXPECT_EQ(contents<std::uint8_t>(buffer)[0], 2);
  release(buffer);
}

TEST_F(MetalCommands, EnqueuedBufferThatIsFreedLosesItsPlace) {
  void* const inner = objc_autoreleasePoolPush();
  send<void>(command_buffer(), "enqueue");
  objc_autoreleasePoolPop(inner);
  EXPECT_EQ(finish(command_buffer()), completed);
}

TEST_F(MetalCommands, BufferRetainsWhatItUsesUntilItHasRun) {
  const Id from = new_buffer(16), to = new_buffer(16);
  contents<std::uint8_t>(from)[0] = 7;
  const Id event = send<Id>(device, "newSharedEvent");
  const Id commands = command_buffer();
  send<void>(commands, "encodeWaitForEvent:value:", event, std::uint64_t{1});
  copy(commands, from, 0, to, 0, 4);
  EXPECT_EQ(send<Number>(from, "retainCount"), 2U);
  release(from);
  send<void>(commands, "commit");
  send<void>(event, "setSignaledValue:", std::uint64_t{1});
  send<void>(commands, "waitUntilCompleted");
  EXPECT_EQ(contents<std::uint8_t>(to)[0], 7);
  // The command buffer still lives, but does not retain it any more.
  EXPECT_EQ(send<Number>(to, "retainCount"), 1U);
  release(to);
  release(event);
}

TEST_F(MetalCommands, UnretainedReferenceToAFreedBufferIsAFault) {
  const Id buffer = new_buffer(16);
  const Id commands = send<Id>(queue, "commandBufferWithUnretainedReferences");
  EXPECT_FALSE(send<bool>(commands, "retainedReferences"));
  fill(commands, buffer, {0, 16}, 1);
  EXPECT_EQ(send<Number>(buffer, "retainCount"), 1U);
  release(buffer);
  EXPECT_EQ(finish(commands), error);
  expect_fault("a command uses a MTLBuffer that was freed before the command buffer has completed");
}

TEST_F(MetalCommands, SharedEventsOrderQueuesAndTheProgram) {
  const Id other = send<Id>(device, "newCommandQueue"), event = send<Id>(device, "newSharedEvent");
  const Id buffer = new_buffer(4);
  EXPECT_EQ(send<std::uint64_t>(event, "signaledValue"), 0U);
  const Id later = send<Id>(other, "commandBuffer"), earlier = command_buffer();
  send<void>(later, "encodeWaitForEvent:value:", event, std::uint64_t{5});
  fill(later, buffer, {0, 4}, 2);
  send<void>(later, "encodeSignalEvent:value:", event, std::uint64_t{6});
  send<void>(later, "commit");
  fill(earlier, buffer, {0, 4}, 1);
  send<void>(earlier, "encodeSignalEvent:value:", event, std::uint64_t{5});
  send<void>(earlier, "commit");
  EXPECT_TRUE(send<bool>(event, "waitUntilSignaledValue:timeoutMS:", std::uint64_t{6}, std::uint64_t{10000}));
  EXPECT_EQ(contents<std::uint8_t>(buffer)[0], 2);
  EXPECT_FALSE(send<bool>(event, "waitUntilSignaledValue:timeoutMS:", std::uint64_t{7}, std::uint64_t{5}));
  EXPECT_EQ(send<std::uint64_t>(event, "signaledValue"), 6U);
  send<void>(later, "waitUntilCompleted");
  send<void>(event, "setSignaledValue:", std::uint64_t{3});
  expect_fault("MTLSharedEvent: the value 3 is signaled after 6, values must increase");
  EXPECT_EQ(send<std::uint64_t>(event, "signaledValue"), 6U);
  for (const Id one : {other, event, buffer}) release(one);
}

TEST_F(MetalCommands, EventsOrderEncodersOfOneCommandBuffer) {
  const Id buffer = new_buffer(4, untracked), event = send<Id>(device, "newEvent"), commands = command_buffer();
  for (std::uint8_t i = 1; i <= 3; ++i) {
    send<void>(commands, "encodeWaitForEvent:value:", event, std::uint64_t{i} - 1);
    fill(commands, buffer, {0, 4}, i);
    send<void>(commands, "encodeSignalEvent:value:", event, std::uint64_t{i});
  }
  send<void>(commands, "encodeSignalEvent:value:", event, std::uint64_t{4});
  send<void>(commands, "encodeWaitForEvent:value:", event, std::uint64_t{4});
  fill(commands, buffer, {3, 1}, 7);
  EXPECT_EQ(finish(commands), completed);
  EXPECT_EQ(contents<std::uint8_t>(buffer)[0], 3);
  EXPECT_EQ(contents<std::uint8_t>(buffer)[3], 7);
  release(buffer);
  release(event);
}

TEST_F(MetalCommands, TimesAreInOrder) {
  const Id commands = command_buffer();
  EXPECT_EQ(send<double>(commands, "GPUStartTime"), 0.0);
  EXPECT_EQ(finish(commands), completed);
  const auto start = send<double>(commands, "GPUStartTime"), end = send<double>(commands, "GPUEndTime");
  EXPECT_GT(send<double>(commands, "kernelStartTime"), 0.0);
  EXPECT_GE(start, send<double>(commands, "kernelStartTime"));
  EXPECT_GE(start, send<double>(commands, "kernelEndTime"));
  EXPECT_GE(end, start);
}

TEST_F(MetalCommands, FreedQueueFinishesItsWork) {
  const Id own = send<Id>(device, "newCommandQueue"), buffer = new_buffer(4);
  const Id event = send<Id>(device, "newSharedEvent");
  {
    void* const inner = objc_autoreleasePoolPush();
    const Id commands = send<Id>(own, "commandBuffer");
    send<void>(commands, "encodeWaitForEvent:value:", event, std::uint64_t{1});
    fill(commands, buffer, {0, 4}, 3);
    send<void>(commands, "encodeSignalEvent:value:", event, std::uint64_t{2});
    send<void>(commands, "commit");
    objc_autoreleasePoolPop(inner);
  }
  release(own);
  send<void>(event, "setSignaledValue:", std::uint64_t{1});
  ASSERT_TRUE(send<bool>(event, "waitUntilSignaledValue:timeoutMS:", std::uint64_t{2}, std::uint64_t{10000}));
  EXPECT_EQ(contents<std::uint8_t>(buffer)[0], 3);
  release(buffer);
  release(event);
  // The queue's thread releases the command buffer, and that the queue, a little later.
  for (int i = 0; i < 10000 && std::string(simulated_metal_live_objects()) != "MTLCommandQueue 1\nMTLDevice 2\n"; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST_F(MetalCommands, QueueHasALimitOfCommandBuffers) {
  const Id small = send<Id>(device, "newCommandQueueWithMaxCommandBufferCount:", Number{2});
  void* const inner = objc_autoreleasePoolPush();
  const Id first = send<Id>(small, "commandBuffer"), second = send<Id>(small, "commandBuffer");
  EXPECT_EQ(send<Id>(small, "commandBuffer"), nullptr);
  expect_fault("waits for ever, because none of the 2 command buffers of the queue is committed");
  send<void>(first, "commit");
  EXPECT_NE(send<Id>(small, "commandBuffer"), nullptr);  // waits for the first one
  send<void>(second, "commit");
  send<void>(second, "waitUntilCompleted");
  objc_autoreleasePoolPop(inner);
  // Those that were freed do not count.
  for (int i = 0; i < 2; ++i) EXPECT_NE(send<Id>(small, "commandBuffer"), nullptr);
  EXPECT_EQ(send<Id>(device, "newCommandQueueWithMaxCommandBufferCount:", Number{0}), nullptr);
  expect_fault("the count must not be 0");
  release(small);
}

TEST_F(MetalCommands, CommandBuffersAreCommittedOnce) {
  const Id commands = command_buffer();
  send<void>(commands, "waitUntilCompleted");
  expect_fault("waitUntilCompleted]: waits for ever, because it is not committed");
  send<void>(commands, "waitUntilScheduled");
  expect_fault("waitUntilScheduled]: waits for ever, because it is not committed");
  EXPECT_EQ(finish(commands), completed);
  send<void>(commands, "waitUntilScheduled");
  send<void>(commands, "commit");
  expect_fault("commit]: the command buffer is committed");
  EXPECT_EQ(send<Id>(commands, "blitCommandEncoder"), nullptr);
  expect_fault("blitCommandEncoder]: the command buffer is committed");
  send<void>(commands, "encodeSignalEvent:value:", Id{nullptr}, std::uint64_t{1});
  expect_fault("encodeSignalEvent:value:]: the command buffer is committed");
}

TEST_F(MetalCommands, EncodersEndBeforeTheNextOne) {
  const Id commands = command_buffer(), buffer = new_buffer(16), event = send<Id>(device, "newSharedEvent");
  const Id encoder = send<Id>(commands, "blitCommandEncoder");
  EXPECT_EQ(send<Id>(commands, "computeCommandEncoder"), nullptr);
  expect_fault("the encoder before has not ended (endEncoding)");
  send<void>(commands, "encodeSignalEvent:value:", event, std::uint64_t{1});
  expect_fault("the encoder before has not ended (endEncoding)");
  send<void>(commands, "commit");
  expect_fault("commit]: the encoder before has not ended (endEncoding)");
  send<void>(encoder, "endEncoding");
  send<void>(encoder, "endEncoding");
  expect_fault("-[MTLBlitCommandEncoder endEncoding]: the encoder has ended (endEncoding)");
  send<void>(encoder, "fillBuffer:range:value:", buffer, Range{0, 4}, std::uint8_t{1});
  expect_fault("-[MTLBlitCommandEncoder fillBuffer:range:value:]: the encoder has ended (endEncoding)");
  release(buffer);
  release(event);
}

TEST_F(MetalCommands, EncoderThatIsFreedWithoutItsEndIsAFault) {
  void* const inner = objc_autoreleasePoolPush();
  EXPECT_NE(send<Id>(command_buffer(), "blitCommandEncoder"), nullptr);
  objc_autoreleasePoolPop(inner);
  expect_fault("a MTLBlitCommandEncoder is freed without endEncoding");
}

TEST_F(MetalCommands, RangesOfCopiesAreChecked) {
  const Id buffer = new_buffer(16), other = new_buffer(16);
  const Id commands = command_buffer(), encoder = send<Id>(commands, "blitCommandEncoder");
  const auto copies = [&](Id from, Number from_offset, Id to, Number to_offset, Number size) {
    send<void>(encoder, "copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:", from, from_offset, to,
               to_offset, size);
  };
  copies(buffer, 12, other, 0, 8);
  expect_fault("the source: 8 bytes from offset 12 are not in a buffer of 16");
  copies(buffer, 0, other, 12, 8);
  expect_fault("the destination: 8 bytes from offset 12 are not in a buffer of 16");
  copies(buffer, static_cast<Number>(-4), other, 0, 8);
  expect_fault("are not in a buffer of 16");
  copies(buffer, 0, other, 0, 0);
  expect_fault("the size must not be 0");
  copies(buffer, 0, buffer, 7, 8);
  expect_fault("the source and the destination overlap");
  copies(buffer, 0, buffer, 8, 8);
  copies(nullptr, 0, other, 0, 8);
  expect_fault("the buffer must not be nil");
  copies(buffer, 0, device, 0, 8);
  expect_fault("a MTLBuffer is needed, not <MTLDevice: ");
  send<void>(encoder, "fillBuffer:range:value:", buffer, Range{8, 9}, std::uint8_t{1});
  expect_fault("9 bytes from offset 8 are not in a buffer of 16");
  send<void>(encoder, "fillBuffer:range:value:", buffer, Range{8, 0}, std::uint8_t{1});
  expect_fault("the range must not be empty");
  send<void>(encoder, "endEncoding");
  EXPECT_EQ(finish(commands), completed);
  release(buffer);
  release(other);
}

// Which of two encoders that nothing orders is the last one: the value of the byte that both fill.
std::uint8_t last_of(Id device, Id queue, bool has_fence, Number options) {
  const Id buffer = send<Id>(device, "newBufferWithLength:options:", Number{4}, options);
  const Id fence = send<Id>(device, "newFence");
  const Id commands = send<Id>(queue, "commandBuffer");
  for (std::uint8_t i = 1; i <= 2; ++i) {
    const Id encoder = send<Id>(commands, "blitCommandEncoder");
    if (has_fence && i == 2) send<void>(encoder, "waitForFence:", fence);
    send<void>(encoder, "fillBuffer:range:value:", buffer, Range{0, 4}, i);
    if (has_fence && i == 1) send<void>(encoder, "updateFence:", fence);
    send<void>(encoder, "endEncoding");
  }
  send<void>(commands, "commit");
  send<void>(commands, "waitUntilCompleted");
  const auto value = *static_cast<std::uint8_t*>(send<void*>(buffer, "contents"));
  release(buffer);
  release(fence);
  return value;
}

TEST_F(MetalCommands, EncodersOfUntrackedBuffersAreOrderedByFencesAlone) {
  EXPECT_EQ(last_of(device, queue, false, shared), 2);
  EXPECT_EQ(last_of(device, queue, false, untracked), 1);
  EXPECT_EQ(last_of(device, queue, true, untracked), 2);
  ::setenv("FERRULE_EMULATION_METAL_ORDER", "forward", 1);
  EXPECT_EQ(last_of(device, queue, false, untracked), 2);
  int firsts = 0;
  for (int seed = 0; seed < 32; ++seed) {
    ::setenv("FERRULE_EMULATION_METAL_ORDER", std::to_string(seed).c_str(), 1);
    if (last_of(device, queue, false, untracked) == 1) ++firsts;
    EXPECT_EQ(last_of(device, queue, true, untracked), 2);
    EXPECT_EQ(last_of(device, queue, false, shared), 2);
  }
  EXPECT_GT(firsts, 4);
  EXPECT_LT(firsts, 28);
  ::unsetenv("FERRULE_EMULATION_METAL_ORDER");
}

TEST_F(MetalCommands, FenceOrdersTheEncoderThatHasUpdatedIt) {
  const Id buffer = new_buffer(4, untracked), other = new_buffer(8), fence = send<Id>(device, "newFence");
  const Id commands = command_buffer();
  fill(commands, other, {0, 4}, 9);
  const Id update = send<Id>(commands, "blitCommandEncoder");
  send<void>(update, "fillBuffer:range:value:", other, Range{4, 4}, std::uint8_t{8});  // after the first encoder
  send<void>(update, "fillBuffer:range:value:", buffer, Range{0, 4}, std::uint8_t{1});
  send<void>(update, "updateFence:", fence);
  send<void>(update, "endEncoding");
  const Id wait = send<Id>(commands, "blitCommandEncoder");
  send<void>(wait, "waitForFence:", fence);
  send<void>(wait, "fillBuffer:range:value:", buffer, Range{0, 4}, std::uint8_t{2});
  send<void>(wait, "endEncoding");
  EXPECT_EQ(finish(commands), completed);
  EXPECT_EQ(contents<std::uint8_t>(buffer)[0], 2);
  EXPECT_EQ(contents<std::uint8_t>(other)[0], 9);
  EXPECT_EQ(contents<std::uint8_t>(other)[4], 8);
  for (const Id one : {buffer, other, fence}) release(one);
}

TEST_F(MetalCommands, FenceIsAwaitedBeforeItsUpdate) {
  const Id fence = send<Id>(device, "newFence");
  const Id commands = command_buffer(), encoder = send<Id>(commands, "blitCommandEncoder");
  send<void>(encoder, "updateFence:", fence);
  send<void>(encoder, "waitForFence:", fence);
  expect_fault("the fence is updated by the same encoder before");
  send<void>(encoder, "waitForFence:", Id{nullptr});
  expect_fault("the fence must not be nil");
  send<void>(encoder, "endEncoding");
  EXPECT_EQ(finish(commands), completed);
  release(fence);
}

// A block as clang compiles one that captures nothing.
struct Block {
  const void* isa;
  int flags, reserved;
  void (*invoke)(Block* self, Id commands);
  const void* descriptor;
  Number seen = 0;
};
extern "C" void* _NSConcreteGlobalBlock[];

TEST_F(MetalCommands, HandlersRunBeforeTheWaitEnds) {
  const auto note = [](Block* self, Id commands) { self->seen = send<Number>(commands, "status"); };
  constexpr int is_global = 1 << 28;
  Block at_schedule{_NSConcreteGlobalBlock, is_global, 0, note, nullptr};
  Block at_end{_NSConcreteGlobalBlock, is_global, 0, note, nullptr};
  const Id commands = command_buffer();
  send<void>(commands, "addScheduledHandler:", &at_schedule);
  send<void>(commands, "addCompletedHandler:", &at_end);
  EXPECT_EQ(finish(commands), completed);
  EXPECT_EQ(at_schedule.seen, scheduled);
  EXPECT_EQ(at_end.seen, completed);
  send<void>(commands, "addCompletedHandler:", &at_end);
  expect_fault("addCompletedHandler:]: the command buffer is committed");
}

TEST_F(MetalCommands, HandlerThatWaitsForItsQueueIsAFault) {
  constexpr int is_global = 1 << 28;
  Block block{_NSConcreteGlobalBlock, is_global, 0,
              [](Block*, Id commands) { send<void>(commands, "waitUntilCompleted"); }, nullptr};
  const Id commands = command_buffer();
  send<void>(commands, "addCompletedHandler:", &block);
  EXPECT_EQ(finish(commands), completed);
  expect_fault("waitUntilCompleted]: waits for ever, because a handler of the same queue calls");
}

TEST_F(MetalCommands, ThreadsCommitToOneQueue) {
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([this] {
      void* const own = objc_autoreleasePoolPush();
      const Id buffer = new_buffer(64);
      for (std::uint8_t i = 0; i < 50; ++i) {
        void* const inner = objc_autoreleasePoolPush();
        const Id commands = command_buffer();
        fill(commands, buffer, {0, 64}, i);
        EXPECT_EQ(finish(commands), completed);
        EXPECT_EQ(contents<std::uint8_t>(buffer)[63], i);
        objc_autoreleasePoolPop(inner);
      }
      release(buffer);
      objc_autoreleasePoolPop(own);
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
