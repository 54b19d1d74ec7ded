// Memory sizes that the CPU device reports, on Linux for machines and containers simulated by files.
#include "backends/cpu/host_memory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <string>

namespace ferrule::test {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t gib = uint64_t{1} << 30;

class CpuHostMemory : public testing::Test {
 protected:
  CpuHostMemory() {
    fs::create_directories(root_);
    write("proc/meminfo", "MemTotal:       16777216 kB\nMemFree:         1048576 kB\nMemAvailable:    8388608 kB\n");
  }
  ~CpuHostMemory() override { fs::remove_all(root_); }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  void write(const std::string& name, uint64_t number) const { write(name, std::to_string(number) + "\n"); }
  void expect(uint64_t available, uint64_t total) const {
    const cpu::HostMemory found = cpu::host_memory(root_);
    EXPECT_EQ(found.available, available);
    EXPECT_EQ(found.total, total);
  }

 private:
  // Tests of this file run at once in several processes, in which `this` may be the same address.
  const fs::path root_ = fs::path(testing::TempDir()) / ("host-memory-" + std::to_string(std::random_device()()));
};

TEST_F(CpuHostMemory, SystemCountAppliesIfMeminfoIsEmpty) {
  write("proc/meminfo", "");
  const cpu::HostMemory found = cpu::host_memory("/nowhere");
  EXPECT_GT(found.total, gib / 4);
  EXPECT_LE(found.available, found.total);
}

#if defined(__linux__)
TEST_F(CpuHostMemory, MemoryOfTheMachineAppliesWithoutGroups) { expect(8 * gib, 16 * gib); }

TEST_F(CpuHostMemory, SmallestLimitOfNestedVersion2GroupsApplies) {
  write("proc/self/cgroup", "0::/pods/one\n");
  write("sys/fs/cgroup/pods/one/memory.max", "max\n");
  write("sys/fs/cgroup/pods/one/memory.current", gib);
  expect(8 * gib, 16 * gib);
  write("sys/fs/cgroup/pods/memory.max", 4 * gib);
  write("sys/fs/cgroup/pods/memory.current", 3 * gib);
  expect(gib, 4 * gib);
  write("sys/fs/cgroup/pods/memory.stat", "anon 5\ninactive_file " + std::to_string(gib) + "\nactive_file 7\n");
  expect(2 * gib, 4 * gib);
  write("sys/fs/cgroup/pods/one/memory.max", 2 * gib);
  expect(gib, 2 * gib);
}

TEST_F(CpuHostMemory, LimitOfTheRootGroupAppliesInsideAContainer) {
  write("proc/self/cgroup", "0::/docker/0123\n");
  write("sys/fs/cgroup/memory.max", 3 * gib);
  write("sys/fs/cgroup/memory.current", 4 * gib);  // usage may briefly exceed the limit
  expect(0, 3 * gib);
}

TEST_F(CpuHostMemory, LimitOfAVersion1GroupApplies) {
  write("proc/self/cgroup", "9:name=systemd:/job\n5:cpu,memory:/job\n4:memoryless:/other\nnonsense\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", 6 * gib);
  expect(8 * gib, 16 * gib);
  write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", 5 * gib);
  write("sys/fs/cgroup/memory/job/memory.usage_in_bytes", 3 * gib);
  write("sys/fs/cgroup/memory/job/memory.stat", "inactive_file 1\ntotal_inactive_file " + std::to_string(gib) + "\n");
  expect(3 * gib, 5 * gib);
  write("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "a mistake\n");
  expect(5 * gib, 5 * gib);
}
#endif

}  // namespace
}  // namespace ferrule::test
