// Tests that the simulated Metal reports wrong use, with one case for each kind, and runs unordered work in another
// order. The Metal backend's tests show that right use works.
#include <csignal>
#include <thread>
#include <tuple>

#include "machine.h"

namespace {

class MetalUse : public Machine {
 protected:
  Id library_of(const char* text) {
    const Id own =
        send<Id>(device, "newLibraryWithSource:options:error:", string(text), Id{nullptr}, static_cast<Id*>(nullptr));
    EXPECT_NE(own, nullptr);
    return own;
  }
  Id pipeline_of(Id library, const char* name) {
    const Id function = send<Id>(library, "newFunctionWithName:", string(name));
    const Id descriptor = made("MTLComputePipelineDescriptor");
    send<void>(descriptor, "setComputeFunction:", function);
    const Id own = send<Id>(device, "newComputePipelineStateWithDescriptor:options:reflection:error:", descriptor,
                            Number{0}, static_cast<Id*>(nullptr), static_cast<Id*>(nullptr));
    release(descriptor);
    release(function);
    return own;
  }
  static void set_buffer(Id encoder, Id buffer, Number offset, Number index) {
    send<void>(encoder, "setBuffer:offset:atIndex:", buffer, offset, index);
  }
  static void dispatch(Id encoder, Number groups, Number threads) {
    send<void>(encoder, "dispatchThreadgroups:threadsPerThreadgroup:", Size{groups, 1, 1}, Size{threads, 1, 1});
  }
};

constexpr const char* text = R"(
#include <metal_stdlib>
using namespace metal;
kernel void twice(device float* x [[buffer(0)]]) { *x = *x * 2; }
kernel void add(device float* x [[buffer(0)]], constant float& value [[buffer(1)]]) { *x = *x + value; }
[[max_total_threads_per_threadgroup(64)]] kernel void small(device float* x [[buffer(0)]]) { *x = 0; }
kernel void diverge(device float* x [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) {
  if (i == 0) {
    threadgroup_barrier(mem_flags::mem_none);
  } else {
    threadgroup_barrier(mem_flags::mem_none);
  }
  x[i] = 0;
}
)";

// ---- objects
TEST_F(MetalUse, MessageToAFreedObject) {
  const Id object = made("MTLCompileOptions");
  release(object);
  send<void>(object, "setFastMathEnabled:", false);
  expect_fault("-[MTLCompileOptions setFastMathEnabled:]: message sent to freed instance");
  release(object);
  expect_fault("over-release: the MTLCompileOptions at ");
}

TEST_F(MetalUse, OverReleaseOfAnAutoreleasedObject) {
  void* const inner = objc_autoreleasePoolPush();
  release(string("text"));
  EXPECT_EQ(faults(), "");
  objc_autoreleasePoolPop(inner);
  expect_fault("over-release: the NSString at ");
}

TEST_F(MetalUse, UnknownSelectorAndPointerThatIsNoObject) {
  send<Id>(device, "newTeapot");
  expect_fault("-[MTLDevice newTeapot]: unrecognized selector sent to instance <MTLDevice: ");
  const std::array<std::byte, 64> bytes{};
  send<Id>(bytes.data(), "name");
  expect_fault("message name is sent to <no object: ");
  send<Id>(device, "newLibraryWithSource:options:error:", device, Id{nullptr}, static_cast<Id*>(nullptr));
  expect_fault("newLibraryWithSource:options:error:: a NSString is needed, not <MTLDevice: ");
}

TEST_F(MetalUse, AutoreleasedObjectWithoutAPool) {
  Id text_object = nullptr;
  std::thread([&] { text_object = string("text"); }).join();
  expect_fault("is autoreleased on a thread without an autorelease pool: it leaks");
  release(text_object);
  std::thread([] { objc_autoreleasePoolPush(); }).join();
  expect_fault("a thread ends with 1 open autorelease pools");
}

TEST_F(MetalUse, TextThatIsNotUtf8IsNoString) {
  for (const char* good : {"", "\xc2\x80", "\xf4\x8f\xbf\xbf"}) EXPECT_NE(string(good), nullptr);
  for (const char* bad : {"\x80", "a\xc3", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff"})
    EXPECT_EQ(string(bad), nullptr) << bad;
}

TEST(MetalUseDeathTest, FaultEndsTheProcess) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(objc_release(&testing::FLAGS_gtest_death_test_style), testing::KilledBySignal(SIGABRT),
              "simulated Metal: over-release: there is no object at ");
}

TEST(MetalUseDeathTest, LeaksAreReportedAtTheEnd) {
  // The library reads the variable when it is loaded, so the process must begin with it.
  ::setenv("FERRULE_EMULATION_METAL_LEAKS", "1", 1);
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        made("MTLCompileOptions");
        std::exit(0);
      },
      testing::ExitedWithCode(0), "simulated Metal: objects that were not released:\nMTLCompileOptions 1\n");
  ::unsetenv("FERRULE_EMULATION_METAL_LEAKS");
}

// ---- buffers
TEST_F(MetalUse, SizesAndOptionsThatBuffersDoNotHave) {
  EXPECT_EQ(new_buffer(0), nullptr);
  expect_fault("the length must not be 0");
  EXPECT_EQ(new_buffer(send<Number>(device, "maxBufferLength") + 1), nullptr);
  expect_fault("must not exceed");
  EXPECT_EQ(new_buffer(16, 3 << 4), nullptr);
  expect_fault("a storage mode");
  constexpr Number page = 16384;
  void* const pages = std::aligned_alloc(page, page);
  const char* const selector = "newBufferWithBytesNoCopy:length:options:deallocator:";
  EXPECT_EQ(send<Id>(device, selector, pages, Number{4096}, Number{shared}, static_cast<void*>(nullptr)), nullptr);
  expect_fault("the memory is not whole pages");
  std::free(pages);
}

TEST_F(MetalUse, NewMemoryIsFilledWithOnesAndThatOfTheDeviceIsNotThePrograms) {
  const Id buffer = new_buffer(1000), own = new_buffer(16, private_to_device);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(contents<std::uint8_t>(buffer)[i], 0xff);
  EXPECT_EQ(contents<void>(own), nullptr);
  release(buffer);
  release(own);
}

TEST_F(MetalUse, BytesAroundABufferThatAreWritten) {
  const Id buffer = new_buffer(10);
  contents<std::uint8_t>(buffer)[10] = 1;
  release(buffer);
  expect_fault("bytes after a buffer of 10 bytes were written");
}

void write(bool is_freed, std::size_t place) {
  const Id buffer =
      send<Id>(MTLCreateSystemDefaultDevice(), "newBufferWithLength:options:", Number{4096}, Number{shared});
  auto* const bytes = static_cast<volatile std::uint8_t*>(send<void*>(buffer, "contents"));
  bytes[0] = 1;
  if (is_freed) release(buffer);
  bytes[place] = 1;
}

TEST(MetalUseDeathTest, MemoryAfterItsEndOrBeyondIt) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(write(false, 4096), "");
  EXPECT_DEATH(write(true, 0), "");
}

// ---- command buffers
TEST_F(MetalUse, CommandBuffersAreCommittedOnce) {
  const Id commands = command_buffer();
  send<void>(commands, "waitUntilCompleted");
  expect_fault("waitUntilCompleted]: waits for ever, because it is not committed");
  EXPECT_EQ(finish(commands), completed);
  send<void>(commands, "commit");
  expect_fault("commit]: the command buffer is committed");
  EXPECT_EQ(send<Id>(commands, "blitCommandEncoder"), nullptr);
  expect_fault("blitCommandEncoder]: the command buffer is committed");
}

TEST_F(MetalUse, EncodersEndOnceBeforeTheNextOne) {
  const Id commands = command_buffer(), buffer = new_buffer(16);
  const Id encoder = send<Id>(commands, "blitCommandEncoder");
  EXPECT_EQ(send<Id>(commands, "blitCommandEncoder"), nullptr);
  expect_fault("the encoder before has not ended (endEncoding)");
  send<void>(commands, "commit");
  expect_fault("commit]: the encoder before has not ended (endEncoding)");
  send<void>(encoder, "endEncoding");
  send<void>(encoder, "fillBuffer:range:value:", buffer, Range{0, 4}, std::uint8_t{1});
  expect_fault("-[MTLBlitCommandEncoder fillBuffer:range:value:]: the encoder has ended (endEncoding)");
  void* const inner = objc_autoreleasePoolPush();
  EXPECT_NE(send<Id>(command_buffer(), "blitCommandEncoder"), nullptr);
  objc_autoreleasePoolPop(inner);
  expect_fault("a MTLBlitCommandEncoder is freed without endEncoding");
  release(buffer);
}

TEST_F(MetalUse, QueueWhoseCommandBuffersAreNeverCommitted) {
  void* const inner = objc_autoreleasePoolPush();
  for (int i = 0; i < 64; ++i) EXPECT_NE(command_buffer(), nullptr);
  EXPECT_EQ(command_buffer(), nullptr);
  expect_fault("waits for ever, because none of the 64 command buffers of the queue is committed");
  objc_autoreleasePoolPop(inner);
  EXPECT_NE(command_buffer(), nullptr);  // those that were freed do not count
}

TEST_F(MetalUse, RangesOfCopiesAndFills) {
  const Id buffer = new_buffer(16), other = new_buffer(16);
  const Id commands = command_buffer(), encoder = send<Id>(commands, "blitCommandEncoder");
  const auto copies = [&](Id from, Number from_offset, Id to, Number to_offset, Number size) {
    send<void>(encoder, "copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:", from, from_offset, to,
               to_offset, size);
  };
  copies(buffer, 12, other, 0, 8);
  expect_fault("the source: 8 bytes from offset 12 are not in a buffer of 16");
  copies(buffer, 0, other, static_cast<Number>(-4), 8);
  expect_fault("are not in a buffer of 16");
  copies(buffer, 0, buffer, 7, 8);
  expect_fault("the source and the destination overlap");
  copies(nullptr, 0, other, 0, 8);
  expect_fault("the buffer must not be nil");
  send<void>(encoder, "fillBuffer:range:value:", buffer, Range{8, 9}, std::uint8_t{1});
  expect_fault("9 bytes from offset 8 are not in a buffer of 16");
  send<void>(encoder, "endEncoding");
  EXPECT_EQ(finish(commands), completed);
  release(buffer);
  release(other);
}

TEST_F(MetalUse, ValuesOfAnEventIncrease) {
  const Id event = send<Id>(device, "newSharedEvent");
  send<void>(event, "setSignaledValue:", std::uint64_t{5});
  send<void>(event, "setSignaledValue:", std::uint64_t{4});
  expect_fault("the value 4 is signaled after 5, values must increase");
  release(event);
}

TEST_F(MetalUse, EncodersOfUntrackedBuffersRunInAnotherOrder) {
  for (const Number options : {Number{shared}, Number{untracked}}) {
    const Id buffer = new_buffer(4, options), commands = command_buffer();
    fill(commands, buffer, {0, 4}, 1);
    fill(commands, buffer, {0, 4}, 2);
    EXPECT_EQ(finish(commands), completed);
    EXPECT_EQ(contents<std::uint8_t>(buffer)[0], options == shared ? 2 : 1);
    release(buffer);
  }
}

// ---- kernels
TEST_F(MetalUse, DispatchesWithoutABarrierRunInAnotherOrder) {
  const Id library = library_of(text), twice = pipeline_of(library, "twice"), add = pipeline_of(library, "add");
  for (const auto& [type, has_barrier, wanted] :
       {std::tuple{0, false, 5.0F}, {1, false, 8.0F}, {1, true, 5.0F}}) {  // 1 is concurrent
    const Id x = new_buffer(4), three = new_buffer(4), commands = command_buffer();
    *contents<float>(x) = 1;
    *contents<float>(three) = 3;
    const Id encoder = send<Id>(commands, "computeCommandEncoderWithDispatchType:", static_cast<Number>(type));
    send<void>(encoder, "setComputePipelineState:", twice);
    set_buffer(encoder, x, 0, 0);
    set_buffer(encoder, three, 0, 1);
    dispatch(encoder, 1, 1);
    if (has_barrier) send<void>(encoder, "memoryBarrierWithScope:", Number{1});
    send<void>(encoder, "setComputePipelineState:", add);
    dispatch(encoder, 1, 1);
    send<void>(encoder, "endEncoding");
    EXPECT_EQ(finish(commands), completed);
    EXPECT_EQ(*contents<float>(x), wanted) << type << has_barrier;
    release(x);
    release(three);
  }
  for (const Id one : {library, twice, add}) release(one);
}

TEST_F(MetalUse, ArgumentsAndSizesOfADispatch) {
  const Id library = library_of(text), add = pipeline_of(library, "add"), small = pipeline_of(library, "small");
  const Id x = new_buffer(256), commands = command_buffer();
  const Id encoder = send<Id>(commands, "computeCommandEncoderWithDispatchType:", Number{0});
  dispatch(encoder, 1, 1);
  expect_fault("there is no pipeline (setComputePipelineState:)");
  send<void>(encoder, "setComputePipelineState:", add);
  dispatch(encoder, 1, 1);
  expect_fault("Compute Function(add): missing buffer binding at index 0 for x");
  set_buffer(encoder, x, 0, 31);
  expect_fault("index(31) must be < 31");
  set_buffer(encoder, x, 256, 0);
  expect_fault("offset(256) must be < the buffer's length(256)");
  set_buffer(encoder, x, 0, 0);
  set_buffer(encoder, x, 254, 1);
  dispatch(encoder, 1, 1);
  expect_fault("the argument at index 1 for value from offset(254) has 2 bytes, it needs 4");
  set_buffer(encoder, x, 2, 1);
  dispatch(encoder, 1, 1);
  expect_fault("offset(2) at index 1 for value must be a multiple of 4");
  send<void>(encoder, "setComputePipelineState:", small);
  dispatch(encoder, 1, 65);
  expect_fault("threadsPerThreadgroup(65, 1, 1) must be <= 64 (the pipeline's maxTotalThreadsPerThreadgroup)");
  dispatch(encoder, 0, 1);
  expect_fault("threadgroupsPerGrid(0, 1, 1) must not be 0");
  send<void>(encoder, "endEncoding");
  EXPECT_EQ(finish(commands), completed);
  for (const Id one : {library, add, small, x}) release(one);
}

TEST_F(MetalUse, FaultOfAKernelIsTheErrorOfItsCommandBuffer) {
  const Id library = library_of(text), diverge = pipeline_of(library, "diverge"), x = new_buffer(256);
  const Id commands = command_buffer();
  const Id encoder = send<Id>(commands, "computeCommandEncoderWithDispatchType:", Number{0});
  send<void>(encoder, "setComputePipelineState:", diverge);
  set_buffer(encoder, x, 0, 0);
  dispatch(encoder, 1, 2);
  send<void>(encoder, "endEncoding");
  EXPECT_EQ(finish(commands), error);
  const std::string found = text_of(send<Id>(send<Id>(commands, "error"), "localizedDescription"));
  EXPECT_NE(found.find("diverge: block (0, 0, 0)"), std::string::npos) << found;
  for (const Id one : {library, diverge, x}) release(one);
}

TEST_F(MetalUse, CompilersLogIsTheErrorOfALibrary) {
  Id failure = nullptr;
  EXPECT_EQ(send<Id>(device, "newLibraryWithSource:options:error:",
                     string("#include <metal_stdlib>\nkernel void k(device float* x [[buffer(0)]]) { *x = teapot; }"),
                     Id{nullptr}, &failure),
            nullptr);
  EXPECT_NE(text_of(send<Id>(failure, "localizedDescription")).find("teapot"), std::string::npos);
}

// ---- the machine that environment variables choose
TEST(MetalUseDeathTest, WhatSomeMachinesLack) {
  passes({{"FERRULE_EMULATION_METAL_FAULTS", "collect"},
          {"FERRULE_EMULATION_METAL_SYSTEM", "Version 14.7 (Build 23H0)"},
          {"FERRULE_EMULATION_METAL_MOST_BLIT", "8"}},
         [] {
           const Id device = MTLCreateSystemDefaultDevice(), queue = send<Id>(device, "newCommandQueue");
           const Id options = made("MTLCompileOptions");
           EXPECT_FALSE(send<bool>(options, "respondsToSelector:", sel_registerName("setMathMode:")));
           send<void>(options, "setMathMode:", 0L);
           EXPECT_NE(std::string(simulated_metal_faults()).find("unrecognized selector before macOS 15"),
                     std::string::npos);
           const Id buffer = send<Id>(device, "newBufferWithLength:options:", Number{16}, Number{shared});
           const Id commands = send<Id>(queue, "commandBuffer"), encoder = send<Id>(commands, "blitCommandEncoder");
           send<void>(encoder, "fillBuffer:range:value:", buffer, Range{0, 9}, std::uint8_t{1});
           EXPECT_NE(std::string(simulated_metal_faults()).find("9 bytes are more than 8"), std::string::npos);
           send<void>(encoder, "endEncoding");
         });
}

// A test whose setting was misspelt would show nothing.
TEST(MetalUseDeathTest, ValueThatIsNotUnderstoodEndsTheProcess) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  for (const auto& variable : Variables{{"FERRULE_EMULATION_METAL_DEVICES", "many"},
                                        {"FERRULE_EMULATION_METAL_FAMILIES", "apple99"},
                                        {"FERRULE_EMULATION_METAL_FAULT", "teapot:1"},
                                        {"FERRULE_EMULATION_METAL_CALL_FAILS", "newSharedEvent"},
                                        {"FERRULE_EMULATION_METAL_ORDER", "backward"}})
    EXPECT_EXIT(check_with({variable}, [] { MTLCopyAllDevices(); }), testing::ExitedWithCode(1), variable.first);
}

}  // namespace
