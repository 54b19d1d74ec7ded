// Faults of kernels that the emulator finds, with the place where they are.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>

#include "metal/checks/kernels.h"

namespace emulation::metal {
namespace {

std::string fault(const std::string& body, unsigned threads = 64) {
  std::vector<float> out(1024);
  Kernel kernel(
      "kernel void faulty(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]],\n"
      "ushort lane [[thread_index_in_simdgroup]]) {\n" +
          body + "\n}",
      "faulty");
  kernel.buffer(0, out);
  return fault_of([&] { kernel.run(1, threads); });
}

#define EXPECT_FAULT(found, ...)                \
  for (const std::string& part : {__VA_ARGS__}) \
  EXPECT_NE(std::string(found).find(part), std::string::npos) << part << "\n in: " << (found)

// Lines count from that of the text: two are in front of it.
TEST(MetalFaults, ABarrierThatSomeThreadsDoNotReach) {
  EXPECT_FAULT(fault("if (i < 32) threadgroup_barrier(mem_flags::mem_threadgroup);\n"
                     "else threadgroup_barrier(mem_flags::mem_threadgroup);"),
               "faulty", "thread (32, 0, 0)", "program_source:6", "program_source:5", "from one line");
  EXPECT_FAULT(fault("if (i == 3) return;\nif (i < 32) simd_any(true);\nif (i == 5) simd_any(false); "
                     "else if (i < 32) threadgroup_barrier(mem_flags::mem_none);"),
               "faulty: block (0, 0, 0) is in a deadlock", "thread 5: in simd_any at program_source:7",
               "threads 0-2, 4, 6-31: in threadgroup_barrier at program_source:7", "threads 3, 32-63: ended");
}

TEST(MetalFaults, AThreadThatHasEndedIsNotAwaited) {
  EXPECT_EQ(fault("if (i % 2 == 0) return;\nthreadgroup_barrier(mem_flags::mem_none);"), "");
}

TEST(MetalFaults, AFunctionOfASimdgroupInABranch) {
  EXPECT_FAULT(fault("if (lane < 16) out[i] = simd_any(true);\nelse out[i] = simd_any(false);"), "faulty",
               "thread (16, 0, 0)", "simd_any at program_source:6", "program_source:5");
  EXPECT_FAULT(fault("if (lane < 16) out[i] = simd_any(true);\nthreadgroup_barrier(mem_flags::mem_none);"), "deadlock",
               "threads 0-15, 32-47: in simd_any at program_source:5", "threads 16-31, 48-63: in threadgroup_barrier");
}

TEST(MetalFaults, TheValueOfALaneThatTakesNoPart) {
  EXPECT_FAULT(fault("out[i] = simd_shuffle(1.0f, 20);", 16), "faulty", "simd_shuffle at program_source:5",
               "does not take part");
  EXPECT_FAULT(fault("simdgroup_float8x8 m;\nsimdgroup_multiply_accumulate(m, m, m, m);", 16), "all 32 lanes",
               "program_source:6");
}

#if !defined(__SANITIZE_THREAD__)  // which does not let a forked process start threads
TEST(MetalFaults, AThreadThatWaitsForWhatNobodyDoes) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  ::setenv("FERRULE_EMULATION_BLOCK_SECONDS", "1", 1);
  // The variable is read once in a process: the death test has a process of its own.
  std::vector<std::uint32_t> flag(1);
  Kernel kernel(
      "kernel void spins(device atomic_uint* flag [[buffer(0)]]) {\n"
      "while (atomic_load_explicit(flag, memory_order_relaxed) == 0) {\n}\n}",
      "spins");
  kernel.buffer(0, flag);
  ASSERT_EXIT(
      {
        const std::string found = fault_of([&] { kernel.run(1, 2); });
        fprintf(stderr, "%s\n", found.c_str());
        std::exit(3);
      },
      testing::ExitedWithCode(3),
      "spins: block \\(0, 0, 0\\) has not ended after 1 s.*\n.*threads 0-1: in atomic_load_explicit at "
      "program_source:4");
  ::unsetenv("FERRULE_EMULATION_BLOCK_SECONDS");
}
#endif

TEST(MetalFaults, ArgumentsThatAreMissing) {
  Kernel kernel(
      "struct P { uint a[4]; };\nkernel void k(device float* out [[buffer(2)]], constant P& p [[buffer(5)]]) { out[0] "
      "= "
      "p.a[0]; }");
  std::vector<float> out(1);
  const auto found = [&] { return fault_of([&] { kernel.run(1, 1); }); };
  EXPECT_EQ(found(), "k: the buffer 'out' at index 2 is not bound");
  kernel.buffer(2, out);
  std::vector<std::uint64_t> short_of_it(1), enough(2);
  kernel.buffer(5, short_of_it);
  EXPECT_EQ(found(), "k: the buffer 'p' at index 5 has 8 bytes, and the kernel reads 16");
  kernel.buffer(5, enough);
  EXPECT_EQ(found(), "");
}

TEST(MetalFaults, MoreThreadsThanAThreadgroupMayHave) {
  std::vector<float> out(2048);
  Kernel most("kernel void k(device float* out [[buffer(0)]]) {}");
  most.buffer(0, out);
  EXPECT_EQ(fault_of([&] { most.run(1, 1024); }), "");
  EXPECT_FAULT(fault_of([&] { most.run(1, 1025); }), "1025 threads", "1024 that the kernel may have");
  Kernel few("[[max_total_threads_per_threadgroup(64)]] kernel void k(device float* out [[buffer(0)]]) {}");
  few.buffer(0, out);
  EXPECT_FAULT(fault_of([&] { few.run(1, 65); }), "65 threads", "64 that the kernel may have");
  EXPECT_FAULT(fault_of([&] { few.run(0, 64); }), "without threads");
}

TEST(MetalFaults, MoreThreadgroupMemoryThanThereIs) {
  EXPECT_EQ(fault("threadgroup float x[8192];\nx[i] = 1; out[i] = x[i];"), "");
  EXPECT_FAULT(fault("threadgroup float x[8192];\nthreadgroup float y;\nx[i] = 1; y = 2; out[i] = x[i] + y;"), "faulty",
               "32772 bytes", "limit of 32768");
}

#if defined(__SANITIZE_ADDRESS__)
TEST(MetalFaults, AddressSanitizerSeesAccessesOutOfBounds) {
  EXPECT_DEATH(fault("float x = 1;\nout[i + 1000] = x;"), "heap-buffer-overflow[^$]*in faulty[^$]*program_source:6");
  EXPECT_DEATH(fault("threadgroup float x[64];\nx[i] = 1;\nout[i] = x[i + 1];"),
               "heap-buffer-overflow[^$]*in faulty[^$]*program_source:7");
  EXPECT_DEATH(fault("float x[4] = {1, 2, 3, 4};\nout[i] = x[lane % 5];"), "buffer-overflow[^$]*in faulty");
}
#endif

}  // namespace
}  // namespace emulation::metal
