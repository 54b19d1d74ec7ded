// Libraries: arguments, positions, constants, and what is kept on disk.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "metal/checks/kernels.h"

namespace emulation::metal {
namespace {

constexpr std::string_view scaled_sum = R"(
struct Parameters { uint count; float scale; };
kernel void k(device const float* x [[buffer(0)]], device const float* y [[buffer(1)]],
              device float* out [[buffer(2)]], constant Parameters& p [[buffer(3)]],
              uint i [[thread_position_in_grid]]) {
  if (i < p.count) out[i] = p.scale * (x[i] + y[i]);
}
)";

struct Parameters {
  std::uint32_t count;
  float scale;
};

TEST(MetalLibrary, RunsAKernelOfBuffersAndConstants) {
  std::vector<float> x(1000), y(1000, 0.5F), out(1024, -1.0F);
  std::iota(x.begin(), x.end(), 0.0F);
  Kernel kernel(scaled_sum);
  kernel.buffer(0, x).buffer(1, y).buffer(2, out).bytes(3, Parameters{1000, 2.0F}).run(16, 64);
  for (std::size_t i = 0; i < 1000; ++i) ASSERT_EQ(out[i], 2.0F * (static_cast<float>(i) + 0.5F));
  for (std::size_t i = 1000; i < 1024; ++i) ASSERT_EQ(out[i], -1.0F);
}

TEST(MetalLibrary, DescribesItsFunctions) {
  const auto library = Library::compile(std::string(scaled_sum) + R"(
[[max_total_threads_per_threadgroup(2 * 64)]] kernel void other(device uint* out [[buffer(4)]],
                                                               threadgroup float* shared [[threadgroup(1)]],
                                                               ushort lane [[thread_index_in_simdgroup]]) {
  out[lane] = lane;
})",
                                        safe_math);
  EXPECT_EQ(library->function_names(), (std::vector<std::string>{"k", "other"}));
  const Function* const k = library->find("k");
  ASSERT_NE(k, nullptr);
  EXPECT_EQ(k->most_threads(), 1024U);
  ASSERT_EQ(k->arguments().size(), 4U);
  EXPECT_EQ(k->arguments()[3].kind, Argument::Kind::constant_buffer);
  EXPECT_EQ(k->arguments()[3].name, "p");
  EXPECT_EQ(k->arguments()[3].index, 3U);
  EXPECT_EQ(k->arguments()[3].least_bytes, 8U);
  const Function* const other = library->find("other");
  EXPECT_EQ(other->most_threads(), 128U);
  EXPECT_EQ(other->arguments()[0].index, 4U);
  EXPECT_EQ(other->arguments()[0].kind, Argument::Kind::device_buffer);
  EXPECT_EQ(other->arguments()[1].kind, Argument::Kind::threadgroup);
  EXPECT_EQ(library->find("none"), nullptr);
}

TEST(MetalLibrary, ThreadsKnowTheirPositions) {
  Kernel kernel(R"(
kernel void k(device uint* out [[buffer(0)]], uint3 at [[thread_position_in_grid]],
              ushort3 place [[thread_position_in_threadgroup]], uint3 group [[threadgroup_position_in_grid]],
              uint3 size [[threads_per_threadgroup]], uint2 groups [[threadgroups_per_grid]],
              uint index [[thread_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]],
              uint simdgroup [[simdgroup_index_in_threadgroup]], uint width [[threads_per_simdgroup]]) {
  const uint row = (at.z * 6 + at.y) * 20 + at.x;
  device uint* o = out + 10 * row;
  o[0] = place.x + 100 * place.y + 10000 * place.z;
  o[1] = group.x + 100 * group.y + 10000 * group.z;
  o[2] = size.x + 100 * size.y + 10000 * size.z;
  o[3] = groups.x + 100 * groups.y;
  o[4] = index;
  o[5] = lane;
  o[6] = simdgroup;
  o[7] = width;
})");
  std::vector<std::uint32_t> out(20 * 6 * 6 * 10);
  kernel.buffer(0, out);
  kernel.dispatch().groups = {2, 2, 3};
  kernel.dispatch().threads = {10, 3, 2};
  run(kernel.dispatch(), Order::random, 1);
  for (unsigned z = 0; z < 6; ++z)
    for (unsigned y = 0; y < 6; ++y)
      for (unsigned x = 0; x < 20; ++x) {
        const std::uint32_t* const o = &out[10 * ((z * 6 + y) * 20 + x)];
        const unsigned index = x % 10 + 10 * (y % 3) + 30 * (z % 2);
        ASSERT_EQ(o[0], x % 10 + 100 * (y % 3) + 10000 * (z % 2));
        ASSERT_EQ(o[1], x / 10 + 100 * (y / 3) + 10000 * (z / 2));
        ASSERT_EQ(o[2], 10U + 300 + 20000);
        ASSERT_EQ(o[3], 2U + 200);
        ASSERT_EQ(o[4], index);
        ASSERT_EQ(o[5], index % 32);
        ASSERT_EQ(o[6], index / 32);
        ASSERT_EQ(o[7], 32U);
      }
}

TEST(MetalLibrary, GridsAreLargerThanThoseOfCuda) {
  Kernel kernel(
      "kernel void k(device atomic_uint* sum [[buffer(0)]], uint3 at [[thread_position_in_grid]]) {\n"
      "atomic_fetch_add_explicit(sum, at.y == 65599 && at.z == 127 ? 1u : 0u, memory_order_relaxed); }");
  std::vector<std::uint32_t> sum(1);
  kernel.buffer(0, sum);
  kernel.dispatch().groups = {1, 65600, 1};
  kernel.dispatch().threads = {1, 1, 128};
  run(kernel.dispatch(), Order::forward, 0);
  EXPECT_EQ(sum[0], 1U);
}

TEST(MetalLibrary, KernelsAreDeclaredByMacros) {
  Kernel kernel(R"(
template <class T> T twice(T x) { return x + x; }
#define TWICE(name, T) \
  kernel void name(device T* x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] = twice(x[i]); }
TWICE(twice_float, float)
TWICE(twice_short, short)
)",
                "twice_short");
  std::vector<std::int16_t> x = {1, 2, -3};
  kernel.buffer(0, x).run(1, 3);
  EXPECT_EQ(x, (std::vector<std::int16_t>{2, 4, -6}));
}

// ---- the folder on disk
class MetalCache : public testing::Test {
 protected:
  void SetUp() override {
    const char* const old = std::getenv("FERRULE_EMULATION_METAL_CACHE");
    old_ = old == nullptr ? "" : old;
    folder_ = std::filesystem::path(testing::TempDir()) / ("metal-cache-" + std::to_string(::getpid()));
    std::filesystem::remove_all(folder_);
    ::setenv("FERRULE_EMULATION_METAL_CACHE", folder_.c_str(), 1);
  }
  void TearDown() override {
    std::filesystem::remove_all(folder_);
    if (old_.empty())
      ::unsetenv("FERRULE_EMULATION_METAL_CACHE");
    else
      ::setenv("FERRULE_EMULATION_METAL_CACHE", old_.c_str(), 1);
  }
  std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> found;
    for (const auto& one : std::filesystem::directory_iterator(folder_))
      if (one.path().filename() != "headers") found.push_back(one.path());  // the emulator's own, compiled
    return found;
  }
  static std::uint32_t result() {
    Kernel kernel("kernel void k(device uint* out [[buffer(0)]]) { out[0] = 42; }");
    std::vector<std::uint32_t> out(1);
    kernel.buffer(0, out).run(1, 1);
    return out[0];
  }
  std::filesystem::path folder_;
  std::string old_;
};

TEST_F(MetalCache, KeepsOneFileForATextAndItsOptions) {
  EXPECT_EQ(result(), 42U);
  ASSERT_EQ(files().size(), 1U);
  const auto written = std::filesystem::last_write_time(files()[0]);
  EXPECT_EQ(result(), 42U);
  ASSERT_EQ(files().size(), 1U);
  EXPECT_EQ(std::filesystem::last_write_time(files()[0]), written);
  const Kernel fast("kernel void k(device uint* out [[buffer(0)]]) { out[0] = 42; }", "k", CompileOptions{});
  EXPECT_EQ(files().size(), 2U);
  const Kernel other("kernel void k(device uint* out [[buffer(0)]]) { out[0] = 43; }");
  EXPECT_EQ(files().size(), 3U);
}

TEST_F(MetalCache, CompilesADamagedFileAgain) {
  EXPECT_EQ(result(), 42U);
  const auto path = files().at(0);
  const auto size = std::filesystem::file_size(path);
  std::filesystem::resize_file(path, size / 2);
  EXPECT_EQ(result(), 42U);
  EXPECT_EQ(std::filesystem::file_size(path), size);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(size / 3));
  file << "damage";
  file.close();
  EXPECT_EQ(result(), 42U);
}

TEST_F(MetalCache, RefusedTextsLeaveNothing) {
  EXPECT_NE(refusal_of_text("kernel void k(device uint* out [[buffer(0)]]) { out[0] = unknown; }"), "");
  EXPECT_TRUE(files().empty());
}

}  // namespace
}  // namespace emulation::metal
