#include "core/loader/folder_entries.h"

#if !defined(_WIN32)
#include <cerrno>
#include <dirent.h>
#include <memory>
#include <string_view>
#endif

namespace ferrule {

namespace fs = std::filesystem;

#if defined(_WIN32)

std::error_code visit_entries(const fs::path& folder, const std::function<bool(const fs::path& path)>& visit) {
  std::error_code problem;
  for (fs::directory_iterator it(folder, problem), end; !problem && it != end; it.increment(problem))
    if (!visit(it->path())) break;
  return problem;
}

#else

std::error_code visit_entries(const fs::path& folder, const std::function<bool(const fs::path& path)>& visit) {
  const auto close_folder = [](DIR* opened) { closedir(opened); };
  const std::unique_ptr<DIR, decltype(close_folder)> opened(opendir(folder.c_str()));
  if (!opened) return {errno, std::generic_category()};
  while (true) {
    errno = 0;
    const dirent* const entry = readdir(opened.get());
    if (entry == nullptr) return {errno, std::generic_category()};
    const std::string_view name = entry->d_name;
    if (name != "." && name != ".." && !visit(folder / name)) return {};
  }
}

#endif

}  // namespace ferrule
