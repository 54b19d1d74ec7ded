#include "core/platform/libraries/mapped_libraries.h"

#include "core/sync/fork.h"

#include <algorithm>

#if defined(__linux__)
#include <cstddef>
#include <link.h>
#elif defined(__APPLE__)
#include <mach-o/dyld.h>
#endif

namespace ferrule {
namespace {

#if defined(__linux__)
// Calls visit(library) for each open library, in the order of opening.
template <class Visit>
void for_each_library(Visit visit) {
  const auto step = [](dl_phdr_info* info, std::size_t, void* argument) {
    (*static_cast<Visit*>(argument))(*info);
    return 0;
  };
  const HoldsForks holds_forks;  // libc does not release the loader's lock in a forked child
  dl_iterate_phdr(step, &visit);
}

struct Count {
  uint64_t opened = 0;  // since the process started
  uint64_t mapped = 0;
};

Count count_libraries() {
  Count count;
  for_each_library([&](const dl_phdr_info& library) {
    count.opened = library.dlpi_adds;
    ++count.mapped;
  });
  return count;
}

std::vector<std::string> names_from(uint64_t begin) {
  std::vector<std::string> names;
  uint64_t place = 0;
  for_each_library([&](const dl_phdr_info& library) {
    // The program itself has no name.
    if (place++ >= begin && library.dlpi_name != nullptr && *library.dlpi_name != '\0')
      names.emplace_back(library.dlpi_name);
  });
  return names;
}
#elif defined(__APPLE__)
struct Count {
  uint64_t opened = _dyld_image_count(), mapped = opened;
};

Count count_libraries() { return {}; }

std::vector<std::string> names_from(uint64_t begin) {
  std::vector<std::string> names;
  for (auto i = static_cast<uint32_t>(begin), count = _dyld_image_count(); i < count; ++i)
    if (const char* name = _dyld_get_image_name(i)) names.emplace_back(name);
  return names;
}
#else
struct Count {
  uint64_t opened = 0, mapped = 0;
};

Count count_libraries() { return {}; }

std::vector<std::string> names_from(uint64_t) { return {}; }
#endif

}  // namespace

MappedLibraries::MappedLibraries() : opened_(count_libraries().opened) {}

std::vector<std::string> MappedLibraries::names_of_new() const {
  const Count now = count_libraries();
  return names_from(now.mapped - std::min(now.mapped, now.opened - std::min(now.opened, opened_)));
}

}  // namespace ferrule
