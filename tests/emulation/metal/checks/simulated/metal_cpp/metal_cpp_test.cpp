// Apple's own C++ headers over the simulated Metal: they send the messages that Apple's frameworks understand. Compiled
// by clang, because the headers have blocks.
#define NS_PRIVATE_IMPLEMENTATION
#define MTL_PRIVATE_IMPLEMENTATION
#include <Metal/Metal.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "metal/simulated/simulated_metal.h"

namespace {

NS::String* string(const char* text) { return NS::String::string(text, NS::UTF8StringEncoding); }

constexpr const char* source = R"(
#include <metal_stdlib>
using namespace metal;
kernel void scale(device const float* x [[buffer(0)]], device float* out [[buffer(1)]],
                  constant float& factor [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  out[i] = factor * x[i];
}
[[max_total_threads_per_threadgroup(64)]] kernel void reverse(device float* x [[buffer(0)]],
                                                              threadgroup float* all [[threadgroup(0)]],
                                                              uint i [[thread_position_in_threadgroup]],
                                                              uint n [[threads_per_threadgroup]]) {
  all[i] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  x[i] = all[n - 1 - i];
}
)";

class MetalCpp : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("FERRULE_EMULATION_METAL_FAULTS", "collect", 1);
    simulated_metal_forget_faults();
    pool = NS::AutoreleasePool::alloc()->init();
    device = MTL::CreateSystemDefaultDevice();
    queue = device->newCommandQueue();
  }
  void TearDown() override {
    queue->release();
    pool->drain();
    device->release();
    EXPECT_STREQ(simulated_metal_faults(), "");
    EXPECT_STREQ(simulated_metal_live_objects(), "");
  }
  MTL::Library* library() const {
    NS::Error* error = nullptr;
    MTL::CompileOptions* const options = MTL::CompileOptions::alloc()->init();
    options->setFastMathEnabled(false);
    options->setLanguageVersion(MTL::LanguageVersion3_1);
    MTL::Library* const made = device->newLibrary(string(source), options, &error);
    options->release();
    EXPECT_NE(made, nullptr) << (error == nullptr ? "" : error->localizedDescription()->utf8String());
    return made;
  }
  NS::AutoreleasePool* pool = nullptr;
  MTL::Device* device = nullptr;
  MTL::CommandQueue* queue = nullptr;
};

TEST_F(MetalCpp, Devices) {
  NS::Array* const all = MTL::CopyAllDevices();
  ASSERT_EQ(all->count(), 1U);
  EXPECT_EQ(all->object<MTL::Device>(0), device);
  all->release();
  NS::Object* observer = nullptr;
  NS::Array* const watched = MTL::CopyAllDevicesWithObserver(&observer, ^(MTL::Device*, NS::String*){
                                                             });
  EXPECT_EQ(watched->count(), 1U);
  watched->release();
  MTL::RemoveDeviceObserver(observer);
  EXPECT_STREQ(device->name()->utf8String(), "Simulated Metal device");
  EXPECT_NE(device->registryID(), 0U);
  EXPECT_FALSE(device->isLowPower());
  EXPECT_FALSE(device->isHeadless());
  EXPECT_FALSE(device->isRemovable());
  EXPECT_TRUE(device->hasUnifiedMemory());
  EXPECT_TRUE(device->supportsFamily(MTL::GPUFamilyApple7));
  EXPECT_TRUE(device->supportsFamily(MTL::GPUFamilyMetal3));
  EXPECT_FALSE(device->supportsFamily(MTL::GPUFamilyApple9));
  EXPECT_GT(device->recommendedMaxWorkingSetSize(), 0U);
  EXPECT_GT(device->maxBufferLength(), 0U);
  EXPECT_EQ(device->maxThreadgroupMemoryLength(), 32768U);
  const MTL::Size most = device->maxThreadsPerThreadgroup();
  EXPECT_EQ(most.width, 1024U);
  EXPECT_EQ(most.height, 1024U);
  EXPECT_EQ(most.depth, 1024U);
  EXPECT_NE(std::string(device->description()->utf8String()).find("MTLDevice"), std::string::npos);
  EXPECT_EQ(device->retainCount(), 3U);  // the runtime's, the queue's, and this test's
}

TEST_F(MetalCpp, BuffersAndBlits) {
  MTL::Buffer* const from = device->newBuffer(16, MTL::ResourceStorageModeShared);
  MTL::Buffer* const kept =
      device->newBuffer(16, MTL::ResourceStorageModePrivate | MTL::ResourceHazardTrackingModeUntracked);
  MTL::Buffer* const to = device->newBuffer("0123456789abcdef", 16, MTL::ResourceStorageModeShared);
  EXPECT_EQ(device->currentAllocatedSize(), 48U);
  EXPECT_EQ(from->length(), 16U);
  EXPECT_EQ(from->storageMode(), MTL::StorageModeShared);
  EXPECT_EQ(kept->storageMode(), MTL::StorageModePrivate);
  EXPECT_EQ(kept->hazardTrackingMode(), MTL::HazardTrackingModeUntracked);
  EXPECT_EQ(kept->contents(), nullptr);
  EXPECT_NE(kept->gpuAddress(), 0U);
  from->setLabel(string("from"));
  EXPECT_TRUE(from->label()->isEqualToString(string("from")));
  MTL::Fence* const fence = device->newFence();
  MTL::CommandBuffer* const commands = queue->commandBuffer();
  EXPECT_EQ(commands->status(), MTL::CommandBufferStatusNotEnqueued);
  EXPECT_EQ(commands->commandQueue(), queue);
  EXPECT_EQ(commands->device(), device);
  EXPECT_TRUE(commands->retainedReferences());
  MTL::BlitCommandEncoder* const first = commands->blitCommandEncoder();
  first->fillBuffer(from, NS::Range::Make(4, 8), 'x');
  first->copyFromBuffer(from, 4, kept, 0, 8);
  first->updateFence(fence);
  first->endEncoding();
  MTL::BlitCommandEncoder* const second = commands->blitCommandEncoder();
  second->waitForFence(fence);
  second->copyFromBuffer(kept, 0, to, 8, 4);
  second->endEncoding();
  commands->enqueue();
  EXPECT_EQ(commands->status(), MTL::CommandBufferStatusEnqueued);
  commands->commit();
  commands->waitUntilScheduled();
  commands->waitUntilCompleted();
  EXPECT_EQ(commands->status(), MTL::CommandBufferStatusCompleted);
  EXPECT_EQ(commands->error(), nullptr);
  EXPECT_GT(commands->GPUStartTime(), 0.0);
  EXPECT_GE(commands->GPUEndTime(), commands->GPUStartTime());
  EXPECT_GE(commands->kernelEndTime(), commands->kernelStartTime());
  EXPECT_EQ(std::string(static_cast<const char*>(to->contents()), 16), "01234567xxxxcdef");
  for (MTL::Buffer* const buffer : {from, kept, to}) buffer->release();
  fence->release();
}

TEST_F(MetalCpp, MemoryOfTheProgramAndItsDeallocator) {
  void* const pages = std::aligned_alloc(16384, 16384);
  __block NS::UInteger freed = 0;
  MTL::Buffer* const buffer =
      device->newBuffer(pages, 16384, MTL::ResourceStorageModeShared, ^(void* pointer, NS::UInteger length) {
        freed = length;
        std::free(pointer);
      });
  ASSERT_NE(buffer, nullptr);
  EXPECT_EQ(buffer->contents(), pages);
  EXPECT_EQ(freed, 0U);
  buffer->release();
  EXPECT_EQ(freed, 16384U);
}

TEST_F(MetalCpp, HandlersAreBlocksAndFunctions) {
  std::atomic<int> calls = 0;
  std::atomic<int>* const counter = &calls;
  const std::string captured = "a capture with a destructor";
  MTL::CommandBuffer* const commands = queue->commandBuffer();
  commands->addScheduledHandler([&calls, captured](MTL::CommandBuffer* own) {
    if (own->status() == MTL::CommandBufferStatusScheduled && captured.size() == 27) calls += 1;
  });
  commands->addCompletedHandler(^(MTL::CommandBuffer* own) {
    if (own->status() == MTL::CommandBufferStatusCompleted && captured.size() == 27) *counter += 10;
  });
  commands->addCompletedHandler([&calls](MTL::CommandBuffer*) { calls += 100; });
  commands->commit();
  commands->waitUntilCompleted();
  EXPECT_EQ(calls, 111);
}

TEST_F(MetalCpp, Kernels) {
  MTL::Library* const own = library();
  EXPECT_EQ(own->functionNames()->count(), 2U);
  EXPECT_EQ(own->newFunction(string("teapot")), nullptr);
  MTL::Function* const scale = own->newFunction(string("scale"));
  MTL::Function* const reverse = own->newFunction(string("reverse"));
  EXPECT_STREQ(scale->name()->utf8String(), "scale");
  EXPECT_EQ(scale->functionType(), MTL::FunctionTypeKernel);
  NS::Error* error = nullptr;
  MTL::ComputePipelineState* const scaling = device->newComputePipelineState(scale, &error);
  MTL::ComputePipelineDescriptor* const descriptor = MTL::ComputePipelineDescriptor::alloc()->init();
  descriptor->setComputeFunction(reverse);
  descriptor->setMaxTotalThreadsPerThreadgroup(32);
  descriptor->setLabel(string("reversing"));
  MTL::ComputePipelineState* const reversing =
      device->newComputePipelineState(descriptor, MTL::PipelineOptionNone, nullptr, &error);
  EXPECT_EQ(scaling->maxTotalThreadsPerThreadgroup(), 1024U);
  EXPECT_EQ(reversing->maxTotalThreadsPerThreadgroup(), 32U);
  EXPECT_EQ(reversing->threadExecutionWidth(), 32U);
  EXPECT_EQ(reversing->staticThreadgroupMemoryLength(), 0U);

  std::vector<float> values(64);
  std::iota(values.begin(), values.end(), 0.0F);
  MTL::Buffer* const x = device->newBuffer(values.data(), 256, MTL::ResourceStorageModeShared);
  MTL::Buffer* const out = device->newBuffer(256, MTL::ResourceStorageModeShared);
  const float factor = 2;
  MTL::CommandBuffer* const commands = queue->commandBuffer();
  MTL::ComputeCommandEncoder* const encoder = commands->computeCommandEncoder(MTL::DispatchTypeConcurrent);
  EXPECT_EQ(encoder->dispatchType(), MTL::DispatchTypeConcurrent);
  encoder->setComputePipelineState(scaling);
  encoder->setBuffer(x, 32 * 4, 0);
  encoder->setBuffer(out, 0, 1);
  encoder->setBytes(&factor, sizeof factor, 2);
  encoder->dispatchThreadgroups(MTL::Size(2, 1, 1), MTL::Size(16, 1, 1));
  encoder->memoryBarrier(MTL::BarrierScopeBuffers);
  encoder->setComputePipelineState(reversing);
  encoder->setBuffer(out, 0, 0);
  encoder->setBufferOffset(4, 0);
  encoder->setBufferOffset(0, 0);
  encoder->setThreadgroupMemoryLength(128, 0);
  encoder->useResource(x, MTL::ResourceUsageRead);
  encoder->dispatchThreadgroups(MTL::Size(1, 1, 1), MTL::Size(32, 1, 1));
  const MTL::Resource* const resources[] = {out};
  encoder->memoryBarrier(resources, 1);
  encoder->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();
  EXPECT_EQ(commands->status(), MTL::CommandBufferStatusCompleted);
  for (int i = 0; i < 32; ++i) ASSERT_EQ(static_cast<float*>(out->contents())[i], 2.0F * static_cast<float>(63 - i));
  for (NS::Object* const one :
       std::initializer_list<NS::Object*>{own, scale, reverse, scaling, descriptor, reversing, x, out})
    one->release();
}

TEST_F(MetalCpp, ErrorOfTheCompiler) {
  NS::Error* error = nullptr;
  EXPECT_EQ(device->newLibrary(string("kernel void k( {"), nullptr, &error), nullptr);
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(error->code(), NS::Integer(MTL::LibraryErrorCompileFailure));
  EXPECT_STREQ(error->domain()->utf8String(), "MTLLibraryErrorDomain");
  EXPECT_GT(error->localizedDescription()->length(), 0U);
}

TEST_F(MetalCpp, BinaryArchives) {
  const std::string path = testing::TempDir() + "ferrule_metal_cpp.archive";
  MTL::Library* const own = library();
  MTL::Function* const scale = own->newFunction(string("scale"));
  MTL::BinaryArchiveDescriptor* const place = MTL::BinaryArchiveDescriptor::alloc()->init();
  MTL::ComputePipelineDescriptor* const descriptor = MTL::ComputePipelineDescriptor::alloc()->init();
  descriptor->setComputeFunction(scale);
  NS::Error* error = nullptr;
  MTL::BinaryArchive* const written = device->newBinaryArchive(place, &error);
  EXPECT_TRUE(written->addComputePipelineFunctions(descriptor, &error));
  NS::URL* const url = NS::URL::fileURLWithPath(string(path.c_str()));
  EXPECT_TRUE(written->serializeToURL(url, &error));
  place->setUrl(url);
  MTL::BinaryArchive* const read = device->newBinaryArchive(place, &error);
  ASSERT_NE(read, nullptr);
  descriptor->setBinaryArchives(NS::Array::array(read));
  MTL::ComputePipelineState* const found =
      device->newComputePipelineState(descriptor, MTL::PipelineOptionFailOnBinaryArchiveMiss, nullptr, &error);
  EXPECT_NE(found, nullptr);
  std::remove(path.c_str());
  EXPECT_EQ(device->newBinaryArchive(place, &error), nullptr);
  EXPECT_EQ(error->code(), NS::Integer(MTL::BinaryArchiveErrorInvalidFile));
  for (NS::Object* const one : std::initializer_list<NS::Object*>{own, scale, place, descriptor, written, read, found})
    one->release();
}

TEST_F(MetalCpp, SharedEvents) {
  MTL::SharedEvent* const event = device->newSharedEvent();
  MTL::Event* const inner = device->newEvent();
  MTL::CommandBuffer* const commands = queue->commandBufferWithUnretainedReferences();
  commands->encodeWait(event, 3);
  commands->encodeSignalEvent(inner, 1);
  commands->encodeWait(inner, 1);
  commands->encodeSignalEvent(event, 4);
  commands->commit();
  event->setSignaledValue(3);
  EXPECT_TRUE(event->waitUntilSignaledValue(4, 10000));
  EXPECT_EQ(event->signaledValue(), 4U);
  commands->waitUntilCompleted();
  event->release();
  inner->release();
}

TEST_F(MetalCpp, ObjectsOfFoundation) {
  NS::String* const text = string("text");
  EXPECT_EQ(text->length(), 4U);
  EXPECT_STREQ(text->cString(NS::UTF8StringEncoding), "text");
  NS::String* const copied = text->copy();
  EXPECT_EQ(copied->hash(), text->hash());
  copied->release();
  NS::Object* const objects[] = {text, device};
  NS::Array* const array = NS::Array::array(objects, 2);
  EXPECT_EQ(array->count(), 2U);
  EXPECT_EQ(array->object(1), device);
  EXPECT_EQ(NS::Array::array()->count(), 0U);
  NS::URL* const url = NS::URL::alloc()->initFileURLWithPath(string("/tmp/file"));
  EXPECT_STREQ(url->fileSystemRepresentation(), "/tmp/file");
  url->release();
}

}  // namespace
