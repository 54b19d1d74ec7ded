#include "conformance/process.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#if defined(_WIN32)
#include "windows/handle.h"
#include "windows/text.h"

#include <windows.h>

#include <psapi.h>
#include <tlhelp32.h>
#else
#include <dlfcn.h>
#include <unistd.h>
#endif

namespace ferrule::conformance {

#if defined(_WIN32)
uint64_t private_bytes() {
  PROCESS_MEMORY_COUNTERS_EX counters{};
  auto* const common = reinterpret_cast<PROCESS_MEMORY_COUNTERS*>(&counters);
  return GetProcessMemoryInfo(GetCurrentProcess(), common, sizeof counters) ? counters.PrivateUsage : 0;
}

size_t thread_count() {
  const windows::Handle all(CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0));
  size_t count = 0;
  THREADENTRY32 thread{};
  thread.dwSize = sizeof thread;
  for (BOOL found = all && Thread32First(all.get(), &thread); found; found = Thread32Next(all.get(), &thread))
    count += thread.th32OwnerProcessID == GetCurrentProcessId();
  return count;
}

// malloc of the C library takes from this heap.
std::optional<uint64_t> allocated_bytes() {
  HANDLE const heap = GetProcessHeap();
  if (!HeapLock(heap)) return std::nullopt;
  uint64_t bytes = 0;
  PROCESS_HEAP_ENTRY entry{};
  while (HeapWalk(heap, &entry))
    if (entry.wFlags & PROCESS_HEAP_ENTRY_BUSY) bytes += entry.cbData;
  HeapUnlock(heap);
  return bytes;
}

std::string real_path(const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(windows::to_wide(path), error);
  return error ? path : windows::to_utf8(real.native());
}
#else
uint64_t private_bytes() {
  uint64_t all = 0, resident = 0, shared = 0;
  std::ifstream("/proc/self/statm") >> all >> resident >> shared;
  return (resident - shared) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

size_t thread_count() {
  std::error_code error;
  const std::filesystem::directory_iterator tasks("/proc/self/task", error);
  return error ? 0 : static_cast<size_t>(std::distance(tasks, std::filesystem::directory_iterator()));
}

std::optional<uint64_t> allocated_bytes() {
  // glibc has the function from 2.33 on, and this program may be compiled for an earlier one. This is its result.
  struct Information {
    size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks, keepcost;
  };
  static const auto read = reinterpret_cast<Information (*)()>(dlsym(RTLD_DEFAULT, "mallinfo2"));
  if (read == nullptr) return std::nullopt;
  const Information info = read();
  return info.uordblks + info.hblkhd;
}

std::string real_path(const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  return error ? path : real.string();
}

#endif

}  // namespace ferrule::conformance
