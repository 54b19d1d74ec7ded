#include "host_memory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#if defined(_WIN32)
#include <windows.h>
#elif defined(__APPLE__)
#include <mach/mach.h>
#include <sys/sysctl.h>
#include <unistd.h>
#else
#include <unistd.h>
#endif

namespace ferrule::cpu {
#if defined(_WIN32)

HostMemory host_memory(const std::filesystem::path&) {
  MEMORYSTATUSEX status{};
  status.dwLength = sizeof status;
  if (GlobalMemoryStatusEx(&status) == 0) return {};
  return {status.ullAvailPhys, status.ullTotalPhys};
}

#elif defined(__APPLE__)

HostMemory host_memory(const std::filesystem::path&) {
  HostMemory memory;
  size_t size = sizeof memory.total;
  if (sysctlbyname("hw.memsize", &memory.total, &size, nullptr, 0) != 0) return {};
  vm_statistics64_data_t pages{};
  mach_msg_type_number_t count = HOST_VM_INFO64_COUNT;
  const mach_port_t host = mach_host_self();
  if (host_statistics64(host, HOST_VM_INFO64, reinterpret_cast<host_info64_t>(&pages), &count) == KERN_SUCCESS)
    memory.available = (uint64_t{pages.free_count} + pages.inactive_count + pages.purgeable_count) *
                       static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  mach_port_deallocate(mach_task_self(), host);
  memory.available = std::min(memory.available, memory.total);
  return memory;
}

#else
namespace {

namespace fs = std::filesystem;

// The number that follows a name in a file of "name number" lines.
std::optional<uint64_t> entry(const fs::path& file, std::string_view wanted) {
  std::ifstream table(file);
  std::string name;
  for (uint64_t value = 0; table >> name >> value;) {
    if (name == wanted) return value;
    table.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return std::nullopt;
}

// The number in a file; none if the file does not exist or contains "max".
std::optional<uint64_t> number(const fs::path& file) {
  std::ifstream text(file);
  uint64_t value = 0;
  if (text >> value) return value;
  return std::nullopt;
}

uint64_t bytes_in_pages(int name) {
  return static_cast<uint64_t>(sysconf(name)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// The files in which a version of cgroups reports the memory of a group.
struct Files {
  const char* folder;
  const char* limit;
  const char* usage;
  const char* file_cache;  // entry of memory.stat: cached files that were not used recently
};
constexpr Files version1 = {"sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                            "total_inactive_file"};
constexpr Files version2 = {"sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"};

// Applies the limits of a group and its parents, which also limit it. A container may see the group's path on the host,
// although the group itself is at the root.
void limit_to_group(const fs::path& root, const Files& files, const fs::path& group, HostMemory& memory) {
  const fs::path base = root / files.folder;
  for (fs::path path = group.relative_path();; path = path.parent_path()) {
    const fs::path folder = base / path;
    const std::optional<uint64_t> limit = number(folder / files.limit);
    if (limit && *limit < memory.total) memory.total = *limit;
    if (const std::optional<uint64_t> usage = number(folder / files.usage); limit && usage) {
      const uint64_t cached = entry(folder / "memory.stat", files.file_cache).value_or(0);
      const uint64_t used = *usage - std::min(*usage, cached);
      memory.available = std::min(memory.available, *limit - std::min(*limit, used));
    }
    if (path.empty()) return;
  }
}

bool has_item(std::string_view list, std::string_view wanted) {
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    if (list.substr(begin, end - begin) == wanted) return true;
    begin = end + 1;
  }
  return false;
}

}  // namespace

HostMemory host_memory(const fs::path& root) {
  const fs::path table = root / "proc/meminfo";
  HostMemory memory;
  const auto bytes_of = [&](std::string_view name, int pages) {
    const std::optional<uint64_t> kibibytes = entry(table, name);
    return kibibytes ? *kibibytes * 1024 : bytes_in_pages(pages);
  };
  memory.available = bytes_of("MemAvailable:", _SC_AVPHYS_PAGES);
  memory.total = bytes_of("MemTotal:", _SC_PHYS_PAGES);
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // "0::/path", or "9:cpu,memory:/path"
    const std::size_t first = line.find(':'), second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1), group = line.substr(second + 1);
    if (controllers.empty())
      limit_to_group(root, version2, group, memory);
    else if (has_item(controllers, "memory"))
      limit_to_group(root, version1, group, memory);
  }
  memory.available = std::min(memory.available, memory.total);
  return memory;
}

#endif
}  // namespace ferrule::cpu
