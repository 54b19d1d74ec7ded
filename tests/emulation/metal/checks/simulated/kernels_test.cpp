// Libraries, pipelines and dispatches.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <numeric>

#include "machine.h"

namespace {

constexpr const char* text = R"(
#include <metal_stdlib>
using namespace metal;
kernel void scale(device const float* x [[buffer(0)]], device float* out [[buffer(1)]],
                  constant float& factor [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  out[i] = factor * x[i];
}
kernel void add(device float* x [[buffer(0)]], constant float& value [[buffer(1)]],
                uint i [[thread_position_in_grid]]) {
  x[i] = x[i] + value;
}
[[max_total_threads_per_threadgroup(64)]] kernel void reverse(device float* x [[buffer(0)]],
                                                              threadgroup float* all [[threadgroup(0)]],
                                                              uint i [[thread_position_in_threadgroup]],
                                                              uint n [[threads_per_threadgroup]]) {
  all[i] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  x[i] = all[n - 1 - i];
}
kernel void two(threadgroup float* x [[threadgroup(0)]], threadgroup float* y [[threadgroup(1)]],
                device float* out [[buffer(0)]]) {
  *x = 1;
  *y = 2;
  *out = *x + *y;
}
struct Table {
  device float* x;
};
kernel void store(constant Table& table [[buffer(0)]]) { *table.x = 1; }
kernel void diverge(device float* x [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) {
  if (i == 0) {
    threadgroup_barrier(mem_flags::mem_none);
  } else {
    threadgroup_barrier(mem_flags::mem_none);
  }
  x[i] = 0;
}
)";

class MetalKernels : public Machine {
 protected:
  void SetUp() override {
    Machine::SetUp();
    library = send<Id>(device, "newLibraryWithSource:options:error:", string(text), Id{nullptr}, &failure);
    ASSERT_NE(library, nullptr) << text_of(send<Id>(failure, "localizedDescription"));
  }
  void TearDown() override {
    for (const Id pipeline : pipelines) release(pipeline);
    release(library);
    Machine::TearDown();
  }
  Id function(const char* name) const { return send<Id>(library, "newFunctionWithName:", string(name)); }
  Id pipeline(const char* name) {
    const Id own = function(name);
    pipelines.push_back(send<Id>(device, "newComputePipelineStateWithFunction:error:", own, &failure));
    release(own);
    return pipelines.back();
  }
  static void set_buffer(Id encoder, Id buffer, Number offset, Number index) {
    send<void>(encoder, "setBuffer:offset:atIndex:", buffer, offset, index);
  }
  static void set_bytes(Id encoder, float value, Number index) {
    send<void>(encoder, "setBytes:length:atIndex:", static_cast<const void*>(&value), Number{sizeof value}, index);
  }
  static void dispatch(Id encoder, Number groups, Number threads) {
    send<void>(encoder, "dispatchThreadgroups:threadsPerThreadgroup:", Size{groups, 1, 1}, Size{threads, 1, 1});
  }
  Id buffer_of(const std::vector<float>& values) const {
    return send<Id>(device, "newBufferWithBytes:length:options:", static_cast<const void*>(values.data()),
                    Number{values.size() * sizeof(float)}, Number{shared});
  }

  Id library = nullptr, failure = nullptr;
  std::vector<Id> pipelines;
};

TEST_F(MetalKernels, RunWithTheirArguments) {
  std::vector<float> values(256);
  std::iota(values.begin(), values.end(), 0.0F);
  const Id x = buffer_of(values), out = new_buffer(256 * 4);
  const Id commands = command_buffer(), encoder = send<Id>(commands, "computeCommandEncoder");
  send<void>(encoder, "setComputePipelineState:", pipeline("scale"));
  set_buffer(encoder, x, 64 * 4, 0);
  set_buffer(encoder, out, 128 * 4, 1);
  set_bytes(encoder, 3, 2);
  dispatch(encoder, 2, 32);
  send<void>(encoder, "endEncoding");
  EXPECT_EQ(finish(commands), completed);
  for (int i = 0; i < 64; ++i) ASSERT_EQ(contents<float>(out)[128 + i], 3.0F * static_cast<float>(64 + i));
  EXPECT_NE(contents<float>(out)[127], contents<float>(out)[127]);  // NaN
  release(x);
  release(out);
}

TEST_F(MetalKernels, ThreadgroupMemoryIsThatOfTheEncoder) {
  std::vector<float> values(64);
  std::iota(values.begin(), values.end(), 0.0F);
  const Id x = buffer_of(values);
  const Id commands = command_buffer(), encoder = send<Id>(commands, "computeCommandEncoder");
  send<void>(encoder, "setComputePipelineState:", pipeline("reverse"));
  set_buffer(encoder, x, 0, 0);
  dispatch(encoder, 1, 64);
  expect_fault("Compute Function(reverse): missing threadgroup memory at index 0 for all");
  send<void>(encoder, "setThreadgroupMemoryLength:atIndex:", Number{4}, Number{0});
  expect_fault("length(4) must be a multiple of 16 bytes");
  send<void>(encoder, "setThreadgroupMemoryLength:atIndex:", Number{32784}, Number{0});
  expect_fault("length(32784) must be <= 32768");
  send<void>(encoder, "setThreadgroupMemoryLength:atIndex:", Number{256}, Number{0});
  dispatch(encoder, 1, 64);
  send<void>(encoder, "endEncoding");
  EXPECT_EQ(finish(commands), completed);
  for (int i = 0; i < 64; ++i) ASSERT_EQ(contents<float>(x)[i], 63.0F - static_cast<float>(i));
  release(x);
}

TEST_F(MetalKernels, ThreadgroupMemoryHasALimitForAllArguments) {
  const Id x = new_buffer(4), commands = command_buffer(), encoder = send<Id>(commands, "computeCommandEncoder");
  send<void>(encoder, "setComputePipelineState:", pipeline("two"));
  set_buffer(encoder, x, 0, 0);
  const auto set_memory = [&](Number length, Number index) {
    send<void>(encoder, "setThreadgroupMemoryLength:atIndex:", length, index);
  };
  set_memory(16384, 0);
  set_memory(16400, 1);
  set_memory(16400, 2);  // no argument of the kernel
  dispatch(encoder, 1, 1);
  expect_fault("Compute Function(two): threadgroup memory(32784) must be <= 32768");
  set_memory(16384, 1);
  dispatch(encoder, 1, 1);
  send<void>(encoder, "endEncoding");
  EXPECT_EQ(finish(commands), completed);
  EXPECT_EQ(*contents<float>(x), 3);
  release(x);
}

// x = 1, then x = 2 * x, then x = x + 3, and what becomes of it in one encoder.
float result_of(Id device, Id queue, Number type, const std::vector<Id>& pipelines, int barrier) {
  const Id x = send<Id>(device, "newBufferWithLength:options:", Number{4}, Number{shared});
  const Id other = send<Id>(device, "newBufferWithLength:options:", Number{4}, Number{shared});
  *static_cast<float*>(send<void*>(x, "contents")) = 1;
  const Id commands = send<Id>(queue, "commandBuffer");
  const Id encoder = send<Id>(commands, "computeCommandEncoderWithDispatchType:", type);
  const float two = 2, three = 3;
  send<void>(encoder, "setComputePipelineState:", pipelines[0]);
  send<void>(encoder, "setBuffer:offset:atIndex:", x, Number{0}, Number{0});
  send<void>(encoder, "setBuffer:offset:atIndex:", x, Number{0}, Number{1});
  send<void>(encoder, "setBytes:length:atIndex:", static_cast<const void*>(&two), Number{4}, Number{2});
  send<void>(encoder, "dispatchThreadgroups:threadsPerThreadgroup:", Size{1, 1, 1}, Size{1, 1, 1});
  if (barrier == 1) send<void>(encoder, "memoryBarrierWithScope:", Number{1});
  if (barrier == 2) send<void>(encoder, "memoryBarrierWithScope:", Number{2});  // of textures
  if (barrier == 3) send<void>(encoder, "memoryBarrierWithResources:count:", &x, Number{1});
  if (barrier == 4) send<void>(encoder, "memoryBarrierWithResources:count:", &other, Number{1});
  send<void>(encoder, "setComputePipelineState:", pipelines[1]);
  send<void>(encoder, "setBytes:length:atIndex:", static_cast<const void*>(&three), Number{4}, Number{1});
  send<void>(encoder, "dispatchThreadgroups:threadsPerThreadgroup:", Size{1, 1, 1}, Size{1, 1, 1});
  send<void>(encoder, "endEncoding");
  send<void>(commands, "commit");
  send<void>(commands, "waitUntilCompleted");
  const float value = *static_cast<float*>(send<void*>(x, "contents"));
  release(x);
  release(other);
  return value;
}

TEST_F(MetalKernels, DispatchesOfAConcurrentEncoderAreOrderedByBarriersAlone) {
  const std::vector<Id> both = {pipeline("scale"), pipeline("add")};
  constexpr Number serial = 0, concurrent = 1;
  constexpr float in_order = 5, reversed = 8;
  EXPECT_EQ(result_of(device, queue, serial, both, 0), in_order);
  EXPECT_EQ(result_of(device, queue, concurrent, both, 0), reversed);
  EXPECT_EQ(result_of(device, queue, concurrent, both, 1), in_order);
  EXPECT_EQ(result_of(device, queue, concurrent, both, 2), reversed);
  EXPECT_EQ(result_of(device, queue, concurrent, both, 3), in_order);
  EXPECT_EQ(result_of(device, queue, concurrent, both, 4), reversed);
  int reversals = 0;
  for (int seed = 0; seed < 32; ++seed) {
    ::setenv("FERRULE_EMULATION_METAL_ORDER", std::to_string(seed).c_str(), 1);
    if (result_of(device, queue, concurrent, both, 0) == reversed) ++reversals;
    EXPECT_EQ(result_of(device, queue, concurrent, both, 1), in_order);
    EXPECT_EQ(result_of(device, queue, concurrent, both, 3), in_order);
  }
  EXPECT_GT(reversals, 4);
  EXPECT_LT(reversals, 28);
  ::setenv("FERRULE_EMULATION_METAL_ORDER", "forward", 1);
  EXPECT_EQ(result_of(device, queue, concurrent, both, 0), in_order);
  ::unsetenv("FERRULE_EMULATION_METAL_ORDER");
}

TEST_F(MetalKernels, BarrierBetweenManyDispatches) {
  // Sixteen times x += 1 in any order, then x *= 2, with a barrier between.
  const Id x = buffer_of({0}), encoder_pipeline = pipeline("add");
  const Id commands = command_buffer();
  const Id encoder = send<Id>(commands, "computeCommandEncoderWithDispatchType:", Number{1});
  EXPECT_EQ(send<Number>(encoder, "dispatchType"), 1U);
  send<void>(encoder, "setComputePipelineState:", encoder_pipeline);
  set_buffer(encoder, x, 0, 0);
  set_bytes(encoder, 1, 1);
  for (int i = 0; i < 16; ++i) dispatch(encoder, 1, 1);
  send<void>(encoder, "memoryBarrierWithScope:", Number{1});
  send<void>(encoder, "setComputePipelineState:", pipeline("scale"));
  set_buffer(encoder, x, 0, 1);
  set_bytes(encoder, 2, 2);
  dispatch(encoder, 1, 1);
  send<void>(encoder, "memoryBarrierWithScope:", Number{1});
  send<void>(encoder, "setComputePipelineState:", encoder_pipeline);
  set_bytes(encoder, 0.5F, 1);
  dispatch(encoder, 1, 1);
  send<void>(encoder, "endEncoding");
  EXPECT_EQ(finish(commands), completed);
  EXPECT_EQ(*contents<float>(x), 32.5F);
  release(x);
}

TEST_F(MetalKernels, BuffersThatAreReachedByAddressesOrderEncodersIfTheyAreUsed) {
  const Id x = buffer_of({0}), store = pipeline("store"), add = pipeline("add");
  const auto address = send<std::uint64_t>(x, "gpuAddress");
  for (const bool is_used : {true, false}) {
    *contents<float>(x) = 0;
    const Id commands = command_buffer();
    // x = 1, by its address.
    const Id first = send<Id>(commands, "computeCommandEncoder");
    if (is_used) send<void>(first, "useResource:usage:", x, Number{2});
    send<void>(first, "setComputePipelineState:", store);
    send<void>(first, "setBytes:length:atIndex:", static_cast<const void*>(&address), Number{8}, Number{0});
    dispatch(first, 1, 1);
    send<void>(first, "endEncoding");
    // x += 3.
    const Id second = send<Id>(commands, "computeCommandEncoder");
    send<void>(second, "setComputePipelineState:", add);
    set_buffer(second, x, 0, 0);
    set_bytes(second, 3, 1);
    dispatch(second, 1, 1);
    send<void>(second, "endEncoding");
    EXPECT_EQ(finish(commands), completed);
    EXPECT_EQ(*contents<float>(x), is_used ? 4.0F : 1.0F);
  }
  release(x);
}

TEST_F(MetalKernels, BindingsAreChecked) {
  const Id x = new_buffer(256), commands = command_buffer(), encoder = send<Id>(commands, "computeCommandEncoder");
  dispatch(encoder, 1, 1);
  expect_fault("there is no pipeline (setComputePipelineState:)");
  send<void>(encoder, "setComputePipelineState:", pipeline("scale"));
  dispatch(encoder, 1, 1);
  expect_fault("Compute Function(scale): missing buffer binding at index 0 for x");
  set_buffer(encoder, x, 0, 31);
  expect_fault("index(31) must be < 31");
  set_buffer(encoder, x, 256, 0);
  expect_fault("offset(256) must be < the buffer's length(256)");
  set_buffer(encoder, x, 3, 0);
  set_buffer(encoder, x, 0, 1);
  set_buffer(encoder, x, 254, 2);
  dispatch(encoder, 1, 1);
  expect_fault("the argument at index 2 for factor from offset(254) has 2 bytes, it needs 4");
  set_buffer(encoder, x, 2, 2);
  dispatch(encoder, 1, 1);
  expect_fault("offset(2) at index 2 for factor must be a multiple of 4");
  const std::vector<std::byte> bytes(4097);
  send<void>(encoder, "setBytes:length:atIndex:", static_cast<const void*>(bytes.data()), Number{4097}, Number{2});
  expect_fault("length(4097) must be <= 4096");
  send<void>(encoder, "setBytes:length:atIndex:", static_cast<const void*>(bytes.data()), Number{4096}, Number{2});
  send<void>(encoder, "setBytes:length:atIndex:", static_cast<const void*>(bytes.data()), Number{0}, Number{2});
  expect_fault("the length must not be 0");
  set_buffer(encoder, nullptr, 0, 1);
  dispatch(encoder, 1, 1);
  expect_fault("missing buffer binding at index 1 for out");
  send<void>(encoder, "memoryBarrierWithScope:", Number{0});
  expect_fault("an unknown scope");
  send<void>(encoder, "endEncoding");
  dispatch(encoder, 1, 1);
  expect_fault("the encoder has ended (endEncoding)");
  EXPECT_EQ(finish(commands), completed);
  release(x);
}

TEST_F(MetalKernels, SizesAreChecked) {
  const Id x = new_buffer(256), commands = command_buffer(), encoder = send<Id>(commands, "computeCommandEncoder");
  const Id reverse = pipeline("reverse");
  EXPECT_EQ(send<Number>(reverse, "maxTotalThreadsPerThreadgroup"), 64U);
  EXPECT_EQ(send<Number>(reverse, "threadExecutionWidth"), 32U);
  send<void>(encoder, "setComputePipelineState:", reverse);
  dispatch(encoder, 1, 65);
  expect_fault("threadsPerThreadgroup(65, 1, 1) must be <= 64 (the pipeline's maxTotalThreadsPerThreadgroup)");
  dispatch(encoder, 1, 1025);
  expect_fault("threadsPerThreadgroup(1025, 1, 1) must be <= 1024 (device threadgroup size limit)");
  dispatch(encoder, 0, 1);
  expect_fault("threadgroupsPerGrid(0, 1, 1) must not be 0");
  dispatch(encoder, 1, 0);
  expect_fault("threadsPerThreadgroup(0, 1, 1) must not be 0");
  send<void>(encoder, "endEncoding");
  EXPECT_EQ(finish(commands), completed);
  release(x);
}

TEST_F(MetalKernels, FaultOfAKernelIsTheErrorOfItsCommandBuffer) {
  const Id x = new_buffer(256), commands = command_buffer(), encoder = send<Id>(commands, "computeCommandEncoder");
  send<void>(encoder, "setComputePipelineState:", pipeline("diverge"));
  set_buffer(encoder, x, 0, 0);
  dispatch(encoder, 1, 2);
  send<void>(encoder, "endEncoding");
  EXPECT_EQ(finish(commands), error);
  const Id own = send<Id>(commands, "error");
  EXPECT_EQ(send<long>(own, "code"), 1);
  EXPECT_NE(text_of(send<Id>(own, "localizedDescription")).find("diverge"), std::string::npos);
  // The next one is all right.
  const Id other = command_buffer(), second = send<Id>(other, "computeCommandEncoder");
  send<void>(second, "setComputePipelineState:", pipeline("scale"));
  set_buffer(second, x, 0, 0);
  set_buffer(second, x, 0, 1);
  set_bytes(second, 1, 2);
  dispatch(second, 1, 64);
  send<void>(second, "endEncoding");
  EXPECT_EQ(finish(other), completed);
  release(x);
}

TEST_F(MetalKernels, CompilersLogIsTheErrorOfALibrary) {
  Id own = nullptr;
  EXPECT_EQ(send<Id>(device, "newLibraryWithSource:options:error:",
                     string("#include <metal_stdlib>\nkernel void k(device float* x [[buffer(0)]]) { *x = teapot; }"),
                     Id{nullptr}, &own),
            nullptr);
  EXPECT_EQ(text_of(send<Id>(own, "domain")), "MTLLibraryErrorDomain");
  EXPECT_EQ(send<long>(own, "code"), 3);
  EXPECT_NE(text_of(send<Id>(own, "localizedDescription")).find("teapot"), std::string::npos);
}

TEST_F(MetalKernels, OptionsOfTheCompiler) {
  const Id options = made("MTLCompileOptions");
  EXPECT_TRUE(send<bool>(options, "fastMathEnabled"));
  send<void>(options, "setFastMathEnabled:", false);
  send<void>(options, "setLanguageVersion:", Number{0x30001});
  const Id own = send<Id>(device, "newLibraryWithSource:options:error:", string(text), options, &failure);
  ASSERT_NE(own, nullptr);
  const Id names = send<Id>(own, "functionNames");
  EXPECT_EQ(send<Number>(names, "count"), 6U);
  EXPECT_EQ(send<Id>(own, "newFunctionWithName:", string("teapot")), nullptr);
  release(own);
  send<void>(options, "setLanguageVersion:", Number{77});
  EXPECT_EQ(send<Id>(device, "newLibraryWithSource:options:error:", string(text), options, &failure), nullptr);
  EXPECT_EQ(send<long>(failure, "code"), 1);
  release(options);
}

TEST_F(MetalKernels, PipelinesOfDescriptors) {
  const Id descriptor = made("MTLComputePipelineDescriptor"), own = function("scale");
  const char* const selector = "newComputePipelineStateWithDescriptor:options:reflection:error:";
  const auto make = [&] {
    return send<Id>(device, selector, descriptor, Number{0}, static_cast<Id*>(nullptr), &failure);
  };
  EXPECT_EQ(make(), nullptr);
  expect_fault("the function must not be nil");
  send<void>(descriptor, "setComputeFunction:", own);
  send<void>(descriptor, "setMaxTotalThreadsPerThreadgroup:", Number{128});
  send<void>(descriptor, "setLabel:", string("scale"));
  const Id made_pipeline = make();
  EXPECT_EQ(send<Number>(made_pipeline, "maxTotalThreadsPerThreadgroup"), 128U);
  // A kernel's own limit remains.
  const Id limited = function("reverse");
  send<void>(descriptor, "setComputeFunction:", limited);
  const Id second = make();
  EXPECT_EQ(send<Number>(second, "maxTotalThreadsPerThreadgroup"), 64U);
  send<void>(descriptor, "setMaxTotalThreadsPerThreadgroup:", Number{2048});
  EXPECT_EQ(make(), nullptr);
  EXPECT_NE(text_of(send<Id>(failure, "localizedDescription")).find("2048"), std::string::npos);
  for (const Id one : {made_pipeline, own, descriptor, limited, second}) release(one);
}

class MetalArchives : public MetalKernels {
 protected:
  void TearDown() override {
    std::remove(path.c_str());
    MetalKernels::TearDown();
  }
  Id archive(bool of_file) {
    const Id descriptor = made("MTLBinaryArchiveDescriptor");
    if (of_file)
      send<void>(descriptor, "setUrl:", send<Id>(objc_getClass("NSURL"), "fileURLWithPath:", string(path.c_str())));
    const Id one = send<Id>(device, "newBinaryArchiveWithDescriptor:error:", descriptor, &failure);
    release(descriptor);
    return one;
  }
  // The pipeline, if an archive has it.
  Id archived(Id one, Id descriptor) {
    send<void>(descriptor, "setBinaryArchives:", send<Id>(objc_getClass("NSArray"), "arrayWithObject:", one));
    constexpr Number fail_on_archive_miss = 4;
    return send<Id>(device, "newComputePipelineStateWithDescriptor:options:reflection:error:", descriptor,
                    fail_on_archive_miss, static_cast<Id*>(nullptr), &failure);
  }
  const std::string path = testing::TempDir() + "ferrule_simulated_metal.archive";
};

TEST_F(MetalArchives, PipelinesAreFoundInAFileOfAnotherTime) {
  const Id descriptor = made("MTLComputePipelineDescriptor"), own = function("scale");
  send<void>(descriptor, "setComputeFunction:", own);
  const Id first = archive(false);
  EXPECT_EQ(archived(first, descriptor), nullptr);
  EXPECT_TRUE(send<bool>(first, "addComputePipelineFunctionsWithDescriptor:error:", descriptor, &failure));
  const Id url = send<Id>(objc_getClass("NSURL"), "fileURLWithPath:", string(path.c_str()));
  EXPECT_TRUE(send<bool>(first, "serializeToURL:error:", url, &failure));
  const Id second = archive(true);
  ASSERT_NE(second, nullptr);
  const Id found = archived(second, descriptor);
  EXPECT_NE(found, nullptr);
  const Id other = function("add");
  send<void>(descriptor, "setComputeFunction:", other);
  EXPECT_EQ(archived(second, descriptor), nullptr);
  for (const Id one : {descriptor, own, first, second, found, other}) release(one);
}

TEST_F(MetalArchives, DamagedFilesAreErrors) {
  EXPECT_EQ(archive(true), nullptr);  // there is none
  EXPECT_EQ(text_of(send<Id>(failure, "domain")), "MTLBinaryArchiveDomain");
  EXPECT_EQ(send<long>(failure, "code"), 1);
  const Id first = archive(false), url = send<Id>(objc_getClass("NSURL"), "fileURLWithPath:", string(path.c_str()));
  EXPECT_TRUE(send<bool>(first, "serializeToURL:error:", url, &failure));
  std::ifstream file(path, std::ios::binary);
  const std::string good(std::istreambuf_iterator<char>(file), {});
  for (std::size_t place = 0; place < good.size(); ++place) {
    std::string bad = good;
    bad[place] ^= 1;
    std::ofstream(path, std::ios::binary) << bad;
    EXPECT_EQ(archive(true), nullptr) << place;
    std::ofstream(path, std::ios::binary) << good.substr(0, place);
    EXPECT_EQ(archive(true), nullptr) << place;
  }
  std::ofstream(path, std::ios::binary) << good;
  const Id again = archive(true);
  EXPECT_NE(again, nullptr);
  const Id nowhere = send<Id>(objc_getClass("NSURL"), "fileURLWithPath:", string("/nonexistent/archive"));
  EXPECT_FALSE(send<bool>(first, "serializeToURL:error:", nowhere, &failure));
  release(first);
  release(again);
}

}  // namespace
