#include "conformance/process.h"

#include <dlfcn.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace ferrule::conformance {

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

}  // namespace ferrule::conformance
