// Environment variables that choose a machine and its faults. Each check runs in a process of its own.
#include <cstdio>
#include <fstream>
#include <iterator>

#include "machine.h"

namespace {

constexpr const char* collect = "FERRULE_EMULATION_METAL_FAULTS";

Id buffer_of(Id device, Number length, Number options = shared) {
  return send<Id>(device, "newBufferWithLength:options:", length, options);
}

struct Outcome {
  Number status;
  long code;
  std::string domain, text;
};
Outcome run_fill(Id queue, Id buffer, std::uint8_t value) {
  const Id commands = send<Id>(queue, "commandBuffer"), encoder = send<Id>(commands, "blitCommandEncoder");
  send<void>(encoder, "fillBuffer:range:value:", buffer, Range{0, 4}, value);
  send<void>(encoder, "endEncoding");
  send<void>(commands, "commit");
  send<void>(commands, "waitUntilCompleted");
  const Id failure = send<Id>(commands, "error");
  return {send<Number>(commands, "status"), send<long>(failure, "code"), text_of(send<Id>(failure, "domain")),
          text_of(send<Id>(failure, "localizedDescription"))};
}

TEST(MetalSettingsDeathTest, MachineWithoutDevices) {
  passes({{"FERRULE_EMULATION_METAL_DEVICES", "0"}}, [] {
    EXPECT_EQ(MTLCreateSystemDefaultDevice(), nullptr);
    const Id all = MTLCopyAllDevices();
    EXPECT_EQ(send<Number>(all, "count"), 0U);
    release(all);
  });
}

TEST(MetalSettingsDeathTest, DeviceThatIsNotListedIsTheDefaultOne) {
  passes({{"FERRULE_EMULATION_METAL_UNLISTED", "1"}}, [] {
    const Id all = MTLCopyAllDevices(), device = MTLCreateSystemDefaultDevice();
    EXPECT_EQ(send<Number>(all, "count"), 0U);
    EXPECT_NE(device, nullptr);
    release(all);
    release(device);
  });
}

TEST(MetalSettingsDeathTest, DevicesAreAsTheVariablesSay) {
  passes(
      {{"FERRULE_EMULATION_METAL_DEVICES", "3"},
       {"FERRULE_EMULATION_METAL_NAME", "first,others"},
       {"FERRULE_EMULATION_METAL_FAMILIES", "mac2"},
       {"FERRULE_EMULATION_METAL_UNIFIED", "0"},
       {"FERRULE_EMULATION_METAL_LOW_POWER", "1"},
       {"FERRULE_EMULATION_METAL_HEADLESS", "1"},
       {"FERRULE_EMULATION_METAL_REMOVABLE", "1"},
       {"FERRULE_EMULATION_METAL_MEMORY", "65536"},
       {"FERRULE_EMULATION_METAL_MAX_BUFFER", "4096"},
       {collect, "collect"}},
      [] {
        const Id all = MTLCopyAllDevices();
        ASSERT_EQ(send<Number>(all, "count"), 3U);
        const Id first = send<Id>(all, "objectAtIndex:", Number{0}), last = send<Id>(all, "objectAtIndex:", Number{2});
        EXPECT_EQ(text_of(send<Id>(first, "name")), "first");
        EXPECT_EQ(text_of(send<Id>(last, "name")), "others");
        EXPECT_NE(send<std::uint64_t>(first, "registryID"), send<std::uint64_t>(last, "registryID"));
        EXPECT_FALSE(send<bool>(first, "hasUnifiedMemory"));
        EXPECT_TRUE(send<bool>(first, "isLowPower"));
        EXPECT_TRUE(send<bool>(first, "isHeadless"));
        EXPECT_TRUE(send<bool>(first, "isRemovable"));
        EXPECT_TRUE(send<bool>(first, "supportsFamily:", long{2001}));
        EXPECT_FALSE(send<bool>(first, "supportsFamily:", long{1001}));
        EXPECT_EQ(send<std::uint64_t>(first, "recommendedMaxWorkingSetSize"), 49152U);
        EXPECT_EQ(buffer_of(first, 4097), nullptr);
        EXPECT_NE(std::string(simulated_metal_faults()).find("the length 4097 must not exceed 4096"),
                  std::string::npos);
        simulated_metal_forget_faults();
        std::vector<Id> buffers;
        buffers.reserve(16);
        for (int i = 0; i < 16; ++i) buffers.push_back(buffer_of(first, 4096));
        EXPECT_EQ(buffer_of(first, 1), nullptr);
        const Id other = buffer_of(last, 1);
        EXPECT_NE(other, nullptr);
        // Buffers of one device are none of the other's.
        const Id queue = send<Id>(first, "newCommandQueue");
        const Id commands = send<Id>(queue, "commandBuffer"), encoder = send<Id>(commands, "blitCommandEncoder");
        send<void>(encoder, "fillBuffer:range:value:", other, Range{0, 1}, std::uint8_t{1});
        EXPECT_NE(std::string(simulated_metal_faults()).find("the buffer is one of another device"), std::string::npos);
        simulated_metal_forget_faults();
        send<void>(encoder, "fillBuffer:range:value:", buffers[0], Range{0, 3}, std::uint8_t{1});
        EXPECT_NE(std::string(simulated_metal_faults()).find("must be multiples of 4"), std::string::npos);
        send<void>(encoder, "endEncoding");
        for (const Id buffer : buffers) release(buffer);
        EXPECT_NE(buffer_of(first, 1), nullptr);
      });
}

TEST(MetalSettingsDeathTest, ManagedMemoryHasACopyForEachSideUnlessMemoryIsUnified) {
  passes({{"FERRULE_EMULATION_METAL_UNIFIED", "0"}, {collect, "collect"}}, [] {
    const Id device = MTLCreateSystemDefaultDevice(), queue = send<Id>(device, "newCommandQueue");
    const Id buffer = buffer_of(device, 4, managed), back = buffer_of(device, 4);
    auto* const bytes = static_cast<std::uint8_t*>(send<void*>(buffer, "contents"));
    const auto device_byte = [&] {
      const Id commands = send<Id>(queue, "commandBuffer"), encoder = send<Id>(commands, "blitCommandEncoder");
      send<void>(encoder, "copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:", buffer, Number{0}, back,
                 Number{0}, Number{4});
      send<void>(encoder, "endEncoding");
      send<void>(commands, "commit");
      send<void>(commands, "waitUntilCompleted");
      return *static_cast<std::uint8_t*>(send<void*>(back, "contents"));
    };
    bytes[0] = 7;
    EXPECT_EQ(device_byte(), 0xff);
    send<void>(buffer, "didModifyRange:", Range{0, 1});
    EXPECT_EQ(device_byte(), 7);
    EXPECT_EQ(run_fill(queue, buffer, 9).status, completed);
    EXPECT_EQ(bytes[0], 7);
    const Id commands = send<Id>(queue, "commandBuffer"), encoder = send<Id>(commands, "blitCommandEncoder");
    send<void>(encoder, "synchronizeResource:", buffer);
    send<void>(encoder, "synchronizeResource:", back);
    EXPECT_NE(std::string(simulated_metal_faults()).find("the storage mode is not managed"), std::string::npos);
    send<void>(encoder, "endEncoding");
    send<void>(commands, "commit");
    send<void>(commands, "waitUntilCompleted");
    EXPECT_EQ(bytes[0], 9);
  });
}

TEST(MetalSettingsDeathTest, ChosenCommandBuffersFail) {
  passes({{"FERRULE_EMULATION_METAL_FAULT", "timeout:2,out_of_memory:3,page_fault:4"}}, [] {
    const Id device = MTLCreateSystemDefaultDevice(), queue = send<Id>(device, "newCommandQueue");
    const Id buffer = buffer_of(device, 4);
    EXPECT_EQ(run_fill(queue, buffer, 1).status, completed);
    const Outcome second = run_fill(queue, buffer, 2);
    EXPECT_EQ(second.status, error);
    EXPECT_EQ(second.code, 2);
    EXPECT_EQ(second.domain, "MTLCommandBufferErrorDomain");
    EXPECT_EQ(second.text, "Caused GPU Timeout Error (00000002:kIOGPUCommandBufferCallbackErrorTimeout)");
    EXPECT_EQ(*static_cast<std::uint8_t*>(send<void*>(buffer, "contents")), 1);
    EXPECT_EQ(run_fill(queue, buffer, 3).code, 8);
    EXPECT_EQ(run_fill(queue, buffer, 4).code, 3);
    EXPECT_EQ(run_fill(queue, buffer, 5).status, completed);
  });
}

TEST(MetalSettingsDeathTest, RemovedDeviceStaysAway) {
  passes({{"FERRULE_EMULATION_METAL_FAULT", "device_removed:2"}, {"FERRULE_EMULATION_METAL_DEVICES", "2"}}, [] {
    const Id all = MTLCopyAllDevices();
    const Id device = send<Id>(all, "objectAtIndex:", Number{0}), other = send<Id>(all, "objectAtIndex:", Number{1});
    const Id queue = send<Id>(device, "newCommandQueue"), buffer = buffer_of(device, 4);
    EXPECT_EQ(run_fill(queue, buffer, 1).status, completed);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(run_fill(queue, buffer, 2).code, 11);
    EXPECT_EQ(buffer_of(device, 4), nullptr);
    EXPECT_EQ(send<Id>(device, "newCommandQueue"), nullptr);
    const Id other_queue = send<Id>(other, "newCommandQueue"), other_buffer = buffer_of(other, 4);
    EXPECT_EQ(run_fill(other_queue, other_buffer, 1).status, completed);
  });
}

TEST(MetalSettingsDeathTest, WaitThatNobodyEndsIsATimeout) {
  passes({{"FERRULE_EMULATION_METAL_WAIT_MILLISECONDS", "50"}}, [] {
    const Id device = MTLCreateSystemDefaultDevice(), queue = send<Id>(device, "newCommandQueue");
    const Id event = send<Id>(device, "newSharedEvent");
    const Id commands = send<Id>(queue, "commandBuffer");
    send<void>(commands, "encodeWaitForEvent:value:", event, std::uint64_t{3});
    send<void>(commands, "encodeSignalEvent:value:", event, std::uint64_t{4});
    send<void>(commands, "commit");
    send<void>(commands, "waitUntilCompleted");
    EXPECT_EQ(send<Number>(commands, "status"), error);
    EXPECT_EQ(send<long>(send<Id>(commands, "error"), "code"), 2);
    EXPECT_EQ(send<std::uint64_t>(event, "signaledValue"), 0U);
  });
}

TEST(MetalSettingsDeathTest, DelayShowsProgramsThatDoNotWait) {
  passes({{"FERRULE_EMULATION_METAL_DELAY_MICROSECONDS", "500000"}}, [] {
    const Id device = MTLCreateSystemDefaultDevice(), queue = send<Id>(device, "newCommandQueue");
    const Id buffer = buffer_of(device, 4);
    const Id commands = send<Id>(queue, "commandBuffer"), encoder = send<Id>(commands, "blitCommandEncoder");
    send<void>(encoder, "fillBuffer:range:value:", buffer, Range{0, 4}, std::uint8_t{1});
    send<void>(encoder, "endEncoding");
    send<void>(commands, "commit");
    EXPECT_EQ(*static_cast<std::uint8_t*>(send<void*>(buffer, "contents")), 0xff);
    send<void>(commands, "waitUntilCompleted");
    EXPECT_EQ(*static_cast<std::uint8_t*>(send<void*>(buffer, "contents")), 1);
  });
}

TEST(MetalSettingsDeathTest, ChosenCallsFail) {
  passes({{"FERRULE_EMULATION_METAL_CALL_FAILS", "newBufferWithLength:options::2,newCommandQueue:*,commandBuffer:1"}},
         [] {
           const Id device = MTLCreateSystemDefaultDevice();
           EXPECT_NE(buffer_of(device, 4), nullptr);
           EXPECT_EQ(buffer_of(device, 4), nullptr);
           EXPECT_NE(buffer_of(device, 4), nullptr);
           EXPECT_EQ(send<Id>(device, "newCommandQueue"), nullptr);
           EXPECT_EQ(send<Id>(device, "newCommandQueue"), nullptr);
           const Id queue = send<Id>(device, "newCommandQueueWithMaxCommandBufferCount:", Number{8});
           EXPECT_EQ(send<Id>(queue, "commandBuffer"), nullptr);
           EXPECT_NE(send<Id>(queue, "commandBuffer"), nullptr);
         });
}

TEST(MetalSettingsDeathTest, ChosenCallsFailWithAnError) {
  passes(
      {{"FERRULE_EMULATION_METAL_CALL_FAILS",
        "newLibraryWithSource:options:error::1,newComputePipelineStateWithFunction:error::1,"
        "newComputePipelineStateWithDescriptor:options:reflection:error::1,newBinaryArchiveWithDescriptor:error::1,"
        "addComputePipelineFunctionsWithDescriptor:error::1,serializeToURL:error::1"}},
      [] {
        const Id device = MTLCreateSystemDefaultDevice();
        Id failure = nullptr;
        // The domain of the error of a call that must fail, and whether the next call succeeds.
        const auto domain = [&] {
          const std::string text = failure == nullptr ? "no error" : text_of(send<Id>(failure, "domain"));
          failure = nullptr;
          return text;
        };
        const Id source = string("#include <metal_stdlib>\nkernel void k(device float* x [[buffer(0)]]) { *x = 1; }");
        const auto library = [&] {
          return send<Id>(device, "newLibraryWithSource:options:error:", source, Id{nullptr}, &failure);
        };
        EXPECT_EQ(library(), nullptr);
        EXPECT_EQ(domain(), "MTLLibraryErrorDomain");
        const Id function = send<Id>(library(), "newFunctionWithName:", string("k"));
        ASSERT_NE(function, nullptr);
        const auto pipeline = [&] {
          return send<Id>(device, "newComputePipelineStateWithFunction:error:", function, &failure);
        };
        EXPECT_EQ(pipeline(), nullptr);
        EXPECT_EQ(domain(), "CompilerError");
        EXPECT_NE(pipeline(), nullptr);
        const Id descriptor = made("MTLComputePipelineDescriptor");
        send<void>(descriptor, "setComputeFunction:", function);
        const auto described = [&] {
          return send<Id>(device, "newComputePipelineStateWithDescriptor:options:reflection:error:", descriptor,
                          Number{0}, static_cast<Id*>(nullptr), &failure);
        };
        EXPECT_EQ(described(), nullptr);
        EXPECT_EQ(domain(), "CompilerError");
        EXPECT_NE(described(), nullptr);
        const Id place = made("MTLBinaryArchiveDescriptor");
        const auto archive = [&] { return send<Id>(device, "newBinaryArchiveWithDescriptor:error:", place, &failure); };
        EXPECT_EQ(archive(), nullptr);
        EXPECT_EQ(domain(), "MTLBinaryArchiveDomain");
        const Id own = archive();
        ASSERT_NE(own, nullptr);
        const auto add = [&] {
          return send<bool>(own, "addComputePipelineFunctionsWithDescriptor:error:", descriptor, &failure);
        };
        EXPECT_FALSE(add());
        EXPECT_EQ(domain(), "MTLBinaryArchiveDomain");
        EXPECT_TRUE(add());
        const std::string path = testing::TempDir() + "ferrule_simulated_metal_failing.archive";
        const Id url = send<Id>(objc_getClass("NSURL"), "fileURLWithPath:", string(path.c_str()));
        EXPECT_FALSE(send<bool>(own, "serializeToURL:error:", url, &failure));
        EXPECT_EQ(domain(), "MTLBinaryArchiveDomain");
        EXPECT_FALSE(std::ifstream(path).is_open());
        EXPECT_TRUE(send<bool>(own, "serializeToURL:error:", url, &failure));
        std::remove(path.c_str());
      });
}

TEST(MetalSettingsDeathTest, ArchivesAreThoseOfADevice) {
  passes({{"FERRULE_EMULATION_METAL_DEVICES", "3"}, {"FERRULE_EMULATION_METAL_NAME", "one,two,one"}}, [] {
    const Id all = MTLCopyAllDevices(), place = made("MTLBinaryArchiveDescriptor");
    Id failure = nullptr;
    const auto archive = [&](Number number) {
      return send<Id>(send<Id>(all, "objectAtIndex:", number), "newBinaryArchiveWithDescriptor:error:", place,
                      &failure);
    };
    const std::string path = testing::TempDir() + "ferrule_simulated_metal_device.archive";
    const Id url = send<Id>(objc_getClass("NSURL"), "fileURLWithPath:", string(path.c_str()));
    EXPECT_TRUE(send<bool>(archive(0), "serializeToURL:error:", url, &failure));
    send<void>(place, "setUrl:", url);
    EXPECT_NE(archive(0), nullptr);
    EXPECT_EQ(archive(1), nullptr);
    EXPECT_NE(text_of(send<Id>(failure, "localizedDescription")).find("is one of another device"), std::string::npos);
    EXPECT_NE(archive(2), nullptr);
    std::remove(path.c_str());
  });
}

TEST(MetalSettingsDeathTest, ArchivesAreThoseOfASystem) {
  const auto system = [] {
    return text_of(send<Id>(send<Id>(objc_getClass("NSProcessInfo"), "processInfo"), "operatingSystemVersionString"));
  };
  static const auto name_of_system = +system;
  static const std::string path = testing::TempDir() + "ferrule_simulated_metal_system.archive";
  static const auto archive_of_file = +[](Id* failure) {
    const Id place = made("MTLBinaryArchiveDescriptor");
    send<void>(place, "setUrl:", send<Id>(objc_getClass("NSURL"), "fileURLWithPath:", string(path.c_str())));
    return send<Id>(MTLCreateSystemDefaultDevice(), "newBinaryArchiveWithDescriptor:error:", place, failure);
  };
  passes({}, [] {
    EXPECT_EQ(name_of_system(), "Version 11.0 (Build 20A0)");
    Id failure = nullptr;
    const Id archive = send<Id>(MTLCreateSystemDefaultDevice(),
                                "newBinaryArchiveWithDescriptor:error:", made("MTLBinaryArchiveDescriptor"), &failure);
    const Id url = send<Id>(objc_getClass("NSURL"), "fileURLWithPath:", string(path.c_str()));
    EXPECT_TRUE(send<bool>(archive, "serializeToURL:error:", url, &failure));
    EXPECT_NE(archive_of_file(&failure), nullptr);
  });
  passes({{"FERRULE_EMULATION_METAL_SYSTEM", "Version 12.1"}}, [] {
    EXPECT_EQ(name_of_system(), "Version 12.1");
    Id failure = nullptr;
    EXPECT_EQ(archive_of_file(&failure), nullptr);
    EXPECT_NE(text_of(send<Id>(failure, "localizedDescription")).find("is one of another system"), std::string::npos);
  });
  std::remove(path.c_str());
}

TEST(MetalSettingsDeathTest, FreedObjectsAreRememberedAsLongAsTheVariableSays) {
  static const auto text_of_late_message = +[] {
    MTLCopyAllDevices();
    const Id object = made("MTLCompileOptions");
    release(object);
    send<bool>(object, "fastMathEnabled");
    return std::string(simulated_metal_faults());
  };
  passes({{collect, "collect"}}, [] { EXPECT_NE(text_of_late_message().find("freed instance"), std::string::npos); });
  passes({{collect, "collect"}, {"FERRULE_EMULATION_METAL_FREED", "0"}}, [] {
    const std::string text = text_of_late_message();
    EXPECT_NE(text, "");
    EXPECT_EQ(text.find("freed instance"), std::string::npos) << text;
  });
}

TEST(MetalSettingsDeathTest, RevokedAccessLasts) {
  passes({{"FERRULE_EMULATION_METAL_FAULT", "access_revoked:1"}}, [] {
    const Id device = MTLCreateSystemDefaultDevice(), queue = send<Id>(device, "newCommandQueue");
    const Id buffer = buffer_of(device, 4);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(run_fill(queue, buffer, 1).code, 4);
    EXPECT_NE(buffer_of(device, 4), nullptr);
  });
}

TEST(MetalSettingsDeathTest, PagesMayBeSmaller) {
  passes({{"FERRULE_EMULATION_METAL_PAGE", "4096"}}, [] {
    void* const pages = std::aligned_alloc(4096, 4096);
    const Id buffer =
        send<Id>(MTLCreateSystemDefaultDevice(), "newBufferWithBytesNoCopy:length:options:deallocator:", pages,
                 Number{4096}, Number{shared}, static_cast<void*>(nullptr));
    EXPECT_NE(buffer, nullptr);
    release(buffer);
    std::free(pages);
  });
}

TEST(MetalSettingsDeathTest, CopiesAndFillsHaveAGreatestSize) {
  passes({{collect, "collect"}, {"FERRULE_EMULATION_METAL_MOST_BLIT", "8"}}, [] {
    const Id device = MTLCreateSystemDefaultDevice(), queue = send<Id>(device, "newCommandQueue");
    const Id from = buffer_of(device, 16), to = buffer_of(device, 16);
    const Id commands = send<Id>(queue, "commandBuffer"), encoder = send<Id>(commands, "blitCommandEncoder");
    const auto copy = [&](Number bytes) {
      send<void>(encoder, "copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:", from, Number{0}, to,
                 Number{0}, bytes);
      send<void>(encoder, "fillBuffer:range:value:", from, Range{0, bytes}, std::uint8_t{1});
    };
    copy(8);
    EXPECT_STREQ(simulated_metal_faults(), "");
    copy(9);
    const std::string text = simulated_metal_faults();
    EXPECT_NE(text.find("size:]: 9 bytes are more than 8"), std::string::npos) << text;
    EXPECT_NE(text.find("value:]: 9 bytes are more than 8"), std::string::npos) << text;
    send<void>(encoder, "endEncoding");
    for (const Id object : {from, to, queue}) release(object);
  });
}

TEST(MetalSettingsDeathTest, OptionsOfMathAreThoseOfTheSystem) {
  const char* const variable = "FERRULE_EMULATION_METAL_SYSTEM";
  static const auto understands = +[](Id options, const char* selector) {
    return send<bool>(options, "respondsToSelector:", sel_registerName(selector));
  };
  passes({{collect, "collect"}, {variable, "Version 14.7 (Build 23H0)"}}, [] {
    const Id options = made("MTLCompileOptions");
    EXPECT_TRUE(understands(options, "setFastMathEnabled:"));
    EXPECT_FALSE(understands(options, "setMathMode:"));
    send<void>(options, "setMathMode:", 0L);
    EXPECT_NE(std::string(simulated_metal_faults()).find("unrecognized selector before macOS 15"), std::string::npos);
    release(options);
  });
  passes({{collect, "collect"}, {variable, "Version 15.0 (Build 24A0)"}}, [] {
    const Id options = made("MTLCompileOptions");
    EXPECT_TRUE(understands(options, "setMathMode:"));
    EXPECT_FALSE(understands(options, "setMathsMode:"));
    send<void>(options, "setFastMathEnabled:", false);
    EXPECT_EQ(send<long>(options, "mathMode"), 0);
    EXPECT_EQ(send<long>(options, "mathFloatingPointFunctions"), 0);
    send<void>(options, "setMathFloatingPointFunctions:", 1L);
    EXPECT_EQ(send<long>(options, "mathFloatingPointFunctions"), 1);
    EXPECT_STREQ(simulated_metal_faults(), "");
    release(options);
  });
}

TEST(MetalSettingsDeathTest, MatricesOfSimdgroupsNeedFamilyApple7) {
  static const auto pipeline_error = +[] {
    const Id device = MTLCreateSystemDefaultDevice();
    const Id library = send<Id>(device, "newLibraryWithSource:options:error:", string(R"(
#include <metal_stdlib>
using namespace metal;
kernel void store(device float* x [[buffer(0)]]) {
  simdgroup_float8x8 zeros = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  simdgroup_store(zeros, x, 8);
})"),
                                Id{}, Id{});
    const Id function = send<Id>(library, "newFunctionWithName:", string("store"));
    Id error = nullptr;
    const Id pipeline = send<Id>(device, "newComputePipelineStateWithFunction:error:", function, &error);
    for (const Id object : {pipeline, function, library}) release(object);
    return error == nullptr ? std::string() : text_of(send<Id>(error, "localizedDescription"));
  };
  passes({{"FERRULE_EMULATION_METAL_FAMILIES", "apple7"}}, [] { EXPECT_EQ(pipeline_error(), ""); });
  passes({{"FERRULE_EMULATION_METAL_FAMILIES", "apple6,mac2,metal3"}},
         [] { EXPECT_NE(pipeline_error().find("Apple7"), std::string::npos); });
}

TEST(MetalSettingsDeathTest, PipelinesSayTheWidthOfTheVariable) {
  passes({{"FERRULE_EMULATION_METAL_EXECUTION_WIDTH", "16"}}, [] {
    const Id device = MTLCreateSystemDefaultDevice();
    const Id library = send<Id>(device, "newLibraryWithSource:options:error:",
                                string("kernel void nothing(device float* x [[buffer(0)]]) {}"), Id{}, Id{});
    const Id function = send<Id>(library, "newFunctionWithName:", string("nothing"));
    const Id pipeline = send<Id>(device, "newComputePipelineStateWithFunction:error:", function, Id{});
    EXPECT_EQ(send<Number>(pipeline, "threadExecutionWidth"), 16U);
    for (const Id object : {pipeline, function, library}) release(object);
  });
}

TEST(MetalSettingsDeathTest, LogHasObjectsAndCommits) {
  const std::string path = testing::TempDir() + "ferrule_simulated_metal_log";
  std::remove(path.c_str());
  passes({{"FERRULE_EMULATION_METAL_LOG", path.c_str()}, {"FERRULE_EMULATION_METAL_FAULT", "internal:1"}}, [] {
    const Id device = MTLCreateSystemDefaultDevice(), queue = send<Id>(device, "newCommandQueue");
    const Id buffer = buffer_of(device, 4);
    EXPECT_EQ(run_fill(queue, buffer, 1).code, 1);
    release(buffer);
  });
  std::ifstream file(path);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_TRUE(text.starts_with("+ MTLCommandQueue\n+ MTLBuffer\n+ MTLCommandBuffer\n+ MTLBlitCommandEncoder\ncommit\n"))
      << text;
  EXPECT_NE(text.find("command buffer 1 fails: Internal Error"), std::string::npos) << text;
  EXPECT_NE(text.find("- MTLBuffer\n"), std::string::npos) << text;
  std::remove(path.c_str());
}

TEST(MetalSettingsDeathTest, ValueThatIsNotUnderstoodEndsTheProcess) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  for (const auto& variable : Variables{{"FERRULE_EMULATION_METAL_DEVICES", "many"},
                                        {"FERRULE_EMULATION_METAL_DEVICES", "17"},
                                        {"FERRULE_EMULATION_METAL_FAMILIES", "apple99"},
                                        {"FERRULE_EMULATION_METAL_UNIFIED", "2"},
                                        {"FERRULE_EMULATION_METAL_MEMORY", "4GB"},
                                        {"FERRULE_EMULATION_METAL_PAGE", "8192"},
                                        {"FERRULE_EMULATION_METAL_EXECUTION_WIDTH", "0"},
                                        {"FERRULE_EMULATION_METAL_FAULT", "timeout"},
                                        {"FERRULE_EMULATION_METAL_FAULT", "timeout:0"},
                                        {"FERRULE_EMULATION_METAL_FAULT", "teapot:1"},
                                        {"FERRULE_EMULATION_METAL_CALL_FAILS", "newFence"},
                                        {"FERRULE_EMULATION_METAL_CALL_FAILS", "newFence:0"},
                                        {"FERRULE_EMULATION_METAL_WAIT_MILLISECONDS", "0"},
                                        {"FERRULE_EMULATION_METAL_DELAY_MICROSECONDS", "-1"},
                                        {"FERRULE_EMULATION_METAL_ORDER", "backward"}})
    EXPECT_EXIT(check_with({variable}, [] { MTLCopyAllDevices(); }), testing::ExitedWithCode(1), variable.first);
}

}  // namespace
