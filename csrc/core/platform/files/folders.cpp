#include "core/platform/files/folders.h"

#include <utility>

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

fs::path RealPaths::of(const fs::path& path, std::error_code& problem) {
  const fs::file_type type = fs::symlink_status(path, problem).type();
  if (type == fs::file_type::not_found && !problem)
    problem = std::make_error_code(std::errc::no_such_file_or_directory);
  if (problem) return {};
#if defined(_WIN32)
  return fs::canonical(path,
                       problem);  // the name as it is on disk: letters of either case and short names are one file
#else
  const fs::path name = path.filename();
  if (type == fs::file_type::symlink || name.empty() || name == "." || name == "..")
    return fs::canonical(path, problem);
  const fs::path folder = path.parent_path();
  auto known = folders_.find(folder.native());
  if (known == folders_.end()) {
    fs::path real = fs::canonical(folder.empty() ? "." : folder, problem);
    if (problem) return {};
    known = folders_.emplace(folder.native(), std::move(real)).first;
  }
  return known->second / name;
#endif
}

}  // namespace ferrule
