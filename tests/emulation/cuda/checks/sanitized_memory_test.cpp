// AddressSanitizer knows the exact size of device memory, whose addresses are multiples of 256, and of pinned memory.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

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

TEST(SanitizedMemory, MemoryEndsAtItsLastByte) {
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  for (const std::size_t bytes : sizes) {
    void *own = nullptr, *of_pool = nullptr, *pinned = nullptr;
    ASSERT_EQ(cudaMalloc(&own, bytes), cudaSuccess);
    ASSERT_EQ(cudaMallocAsync(&of_pool, bytes, stream), cudaSuccess);
    ASSERT_EQ(cudaHostAlloc(&pinned, bytes, cudaHostAllocDefault), cudaSuccess);
    expect_exact(own, bytes);
    expect_exact(of_pool, bytes);
    if (bytes % 4096 != 0) expect_exact(pinned, bytes);
    EXPECT_EQ(cudaFree(own), cudaSuccess);
    EXPECT_EQ(cudaFreeAsync(of_pool, stream), cudaSuccess);
    EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
  }
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
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
