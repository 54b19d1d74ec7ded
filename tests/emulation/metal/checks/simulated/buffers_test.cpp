// Buffers, and devices.
#include <cstring>

#include "machine.h"

namespace {

class MetalBuffers : public Machine {};

TEST_F(MetalBuffers, MemoryIsFilledWithOnes) {
  const Id buffer = new_buffer(1000);
  EXPECT_EQ(send<Number>(buffer, "length"), 1000U);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(contents<std::uint8_t>(buffer)[i], 0xff);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(contents<void>(buffer)) % 256, 0U);
  EXPECT_EQ(send<Number>(device, "currentAllocatedSize"), 1000U);
  EXPECT_EQ(send<Id>(buffer, "device"), device);
  EXPECT_NE(send<std::uint64_t>(buffer, "gpuAddress"), 0U);
  release(buffer);
  EXPECT_EQ(send<Number>(device, "currentAllocatedSize"), 0U);
}

TEST_F(MetalBuffers, PrivateMemoryIsNotThePrograms) {
  const Id buffer = new_buffer(16, private_to_device | untracked);
  EXPECT_EQ(contents<void>(buffer), nullptr);
  EXPECT_EQ(send<Number>(buffer, "storageMode"), 2U);
  EXPECT_EQ(send<Number>(buffer, "hazardTrackingMode"), 1U);
  EXPECT_NE(send<std::uint64_t>(buffer, "gpuAddress"), 0U);
  release(buffer);
}

TEST_F(MetalBuffers, WrongSizesAndOptionsAreFaults) {
  EXPECT_EQ(new_buffer(0), nullptr);
  expect_fault("-[MTLDevice newBufferWithLength:options:]: the length must not be 0");
  EXPECT_EQ(new_buffer(16, 3 << 4), nullptr);
  expect_fault("a storage mode that buffers do not have");
  EXPECT_EQ(new_buffer(16, 1 << 12), nullptr);
  expect_fault("unknown resource options");
}

TEST_F(MetalBuffers, MemoryOfTheDeviceHasAnEnd) {
  for (const Number length : {static_cast<Number>(-1), send<Number>(device, "maxBufferLength") + 1}) {
    EXPECT_EQ(new_buffer(length), nullptr);
    expect_fault("must not exceed");
  }
  EXPECT_EQ(send<Number>(device, "currentAllocatedSize"), 0U);
}

TEST_F(MetalBuffers, BytesAroundABufferAreWatched) {
  const Id buffer = new_buffer(10);
  contents<std::uint8_t>(buffer)[10] = 1;
  release(buffer);
  expect_fault("bytes after a buffer of 10 bytes were written");
  const Id other = new_buffer(10);
  contents<std::uint8_t>(other)[-1] = 1;
  release(other);
  expect_fault("bytes before a buffer of 10 bytes were written");
}

TEST_F(MetalBuffers, BufferOfBytesHasThem) {
  const Id buffer = send<Id>(device, "newBufferWithBytes:length:options:", static_cast<const void*>("abc"), Number{3},
                             Number{shared});
  EXPECT_EQ(std::string(contents<char>(buffer), 3), "abc");
  release(buffer);
}

std::size_t freed_bytes = 0;
struct Block {
  const void* isa = nullptr;
  int flags = 1 << 28, reserved = 0;
  void (*invoke)(Block*, void* pointer, Number length) = [](Block*, void* pointer, Number length) {
    freed_bytes = length;
    std::free(pointer);
  };
  const void* descriptor = nullptr;
};

TEST_F(MetalBuffers, MemoryOfTheProgramIsUsedInWholePages) {
  const char* const selector = "newBufferWithBytesNoCopy:length:options:deallocator:";
  constexpr Number page = 16384;
  auto* const pages = static_cast<std::uint8_t*>(std::aligned_alloc(page, 2 * page));
  std::memset(pages, 5, 2 * page);
  const auto around = [&](void* pointer, Number length, Number options, Block* block) {
    return send<Id>(device, selector, pointer, length, options, block);
  };
  EXPECT_EQ(around(pages, 4096, shared, nullptr), nullptr);
  expect_fault("the memory is not whole pages");
  EXPECT_EQ(around(pages + 4096, page, shared, nullptr), nullptr);
  expect_fault("the memory is not whole pages");
  EXPECT_EQ(around(nullptr, page, shared, nullptr), nullptr);
  expect_fault("the memory is not whole pages");
  EXPECT_EQ(around(pages, page, private_to_device, nullptr), nullptr);
  expect_fault("the storage mode must not be private");
  freed_bytes = 0;
  Block block;
  const Id buffer = around(pages, 2 * page, shared, &block);
  EXPECT_EQ(contents<std::uint8_t>(buffer), pages);
  EXPECT_EQ(pages[0], 5);
  const Id commands = command_buffer();
  fill(commands, buffer, {page, page}, 9);
  EXPECT_EQ(finish(commands), completed);
  EXPECT_EQ(pages[page - 1], 5);
  EXPECT_EQ(pages[page], 9);
  EXPECT_EQ(freed_bytes, 0U);
  release(buffer);
  EXPECT_EQ(freed_bytes, 2 * page);
}

TEST_F(MetalBuffers, LabelsAreKept) {
  const Id buffer = new_buffer(4);
  EXPECT_EQ(send<Id>(buffer, "label"), nullptr);
  send<void>(buffer, "setLabel:", string("weights"));
  EXPECT_EQ(text_of(send<Id>(buffer, "label")), "weights");
  release(buffer);
}

TEST_F(MetalBuffers, DeviceSaysWhatItIs) {
  EXPECT_EQ(text_of(send<Id>(device, "name")), "Simulated Metal device");
  EXPECT_TRUE(send<bool>(device, "hasUnifiedMemory"));
  EXPECT_FALSE(send<bool>(device, "isLowPower"));
  EXPECT_FALSE(send<bool>(device, "isHeadless"));
  EXPECT_FALSE(send<bool>(device, "isRemovable"));
  EXPECT_TRUE(send<bool>(device, "supportsFamily:", long{1007}));
  EXPECT_TRUE(send<bool>(device, "supportsFamily:", long{5001}));
  EXPECT_FALSE(send<bool>(device, "supportsFamily:", long{1009}));
  EXPECT_EQ(send<Number>(device, "maxThreadgroupMemoryLength"), 32768U);
  EXPECT_EQ(send<Number>(device, "maxBufferLength"), Number{1} << 31U);
  EXPECT_EQ(send<std::uint64_t>(device, "recommendedMaxWorkingSetSize"), std::uint64_t{3} << 30U);
}

TEST_F(MetalBuffers, AllDevicesAreListed) {
  const Id all = MTLCopyAllDevices();
  EXPECT_EQ(send<Number>(all, "count"), 1U);
  EXPECT_EQ(send<Id>(all, "objectAtIndex:", Number{0}), device);
  release(all);
}

void write(bool is_freed, std::size_t place) {
  const Id device = MTLCreateSystemDefaultDevice();
  const Id buffer = send<Id>(device, "newBufferWithLength:options:", Number{4096}, Number{shared});
  auto* const bytes = static_cast<volatile std::uint8_t*>(send<void*>(buffer, "contents"));
  bytes[0] = 1;
  if (is_freed) release(buffer);
  bytes[place] = 1;
}

TEST(MetalBuffersDeathTest, UseAfterFreeAndBeyondTheEndEndsTheProcess) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(write(false, 4096), "");
  EXPECT_DEATH(write(true, 0), "");
}

}  // namespace
