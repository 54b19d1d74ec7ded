// AddressSanitizer knows the exact size of device memory, whose addresses are multiples of 256, and of pinned memory.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstdint>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>

namespace {

constexpr std::size_t sizes[] = {1, 3, 8, 100, 255, 256, 257, 4095, 4096, 4099};

// The first byte is there, the last one is, and the bytes behind it are not.
void expect_exact(const void* pointer, std::size_t bytes) {
  const auto* const memory = static_cast<const char*>(pointer);
  EXPECT_FALSE(__asan_address_is_poisoned(memory)) << bytes;
  EXPECT_FALSE(__asan_address_is_poisoned(memory + bytes - 1)) << bytes;
  for (std::size_t past = 0; past < 8; ++past) EXPECT_TRUE(__asan_address_is_poisoned(memory + bytes + past)) << bytes;
}

TEST(SanitizedMemory, DeviceMemoryEndsAtItsLastByte) {
  for (const std::size_t bytes : sizes) {
    void* memory = nullptr;
    ASSERT_EQ(cudaMalloc(&memory, bytes), cudaSuccess);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 256, 0U);
    expect_exact(memory, bytes);
    EXPECT_EQ(cudaFree(memory), cudaSuccess);
  }
}

TEST(SanitizedMemory, MemoryOfAPoolEndsAtItsLastByte) {
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  for (const std::size_t bytes : sizes) {
    void* memory = nullptr;
    ASSERT_EQ(cudaMallocAsync(&memory, bytes, stream), cudaSuccess);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 256, 0U);
    expect_exact(memory, bytes);
    EXPECT_EQ(cudaFreeAsync(memory, stream), cudaSuccess);
  }
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST(SanitizedMemory, PinnedMemoryEndsAtItsLastByte) {
  for (const std::size_t bytes : sizes) {
    void* memory = nullptr;
    ASSERT_EQ(cudaHostAlloc(&memory, bytes, cudaHostAllocDefault), cudaSuccess);
    if (bytes % 4096 != 0) expect_exact(memory, bytes);
    EXPECT_EQ(cudaFreeHost(memory), cudaSuccess);
  }
}

__global__ void writes(char* x, std::size_t at) { x[at] = 1; }

TEST(SanitizedMemoryDeathTest, KernelThatWritesOneByteTooFarIsReported) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  void* memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, 100), cudaSuccess);
  emulation::launch("writes", {}, writes, static_cast<char*>(memory), std::size_t{99});
  EXPECT_DEATH(emulation::launch("writes", {}, writes, static_cast<char*>(memory), std::size_t{100}),
               "heap-buffer-overflow");
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
}

}  // namespace

#endif
