#include "core/loader/mapped_files.h"

#include "core/threads/fork.h"

#include <algorithm>
#include <functional>
#include <string_view>

#if defined(__linux__)
#include <cstddef>
#include <link.h>
#elif defined(__APPLE__)
#include <mach-o/dyld.h>
#endif

namespace ferrule {
namespace {

// Calls visit(address, name) for each library in the order of opening. The program itself has no name on Linux. The name
// lives as long as the call.
template <class Visit>
void for_each_library(Visit visit) {
#if defined(__linux__)
  const auto step = [](dl_phdr_info* info, std::size_t, void* argument) {
    if (info->dlpi_name != nullptr && *info->dlpi_name != '\0')
      (*static_cast<Visit*>(argument))(static_cast<uintptr_t>(info->dlpi_addr), std::string_view(info->dlpi_name));
    return 0;
  };
  const HoldsForks holds_forks;  // the system frees its lock in no child
  dl_iterate_phdr(step, &visit);
#elif defined(__APPLE__)
  for (uint32_t i = 0, count = _dyld_image_count(); i < count; ++i)
    if (const char* name = _dyld_get_image_name(i))
      visit(reinterpret_cast<uintptr_t>(_dyld_get_image_header(i)), std::string_view(name));
#else
  static_cast<void>(visit);
#endif
}

MappedFiles::Mark mark_of(uintptr_t address, std::string_view name) {
  return {address, std::hash<std::string_view>()(name)};
}

}  // namespace

MappedFiles::MappedFiles() {
  for_each_library([this](uintptr_t address, std::string_view name) { there_.push_back(mark_of(address, name)); });
  std::sort(there_.begin(), there_.end());
}

std::vector<std::string> MappedFiles::names_of_new() const {
  std::vector<std::string> names;
  for_each_library([&](uintptr_t address, std::string_view name) {
    if (!std::binary_search(there_.begin(), there_.end(), mark_of(address, name))) names.emplace_back(name);
  });
  return names;
}

}  // namespace ferrule
