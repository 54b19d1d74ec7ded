#include "core/loader/real_paths.h"

#include <utility>

namespace ferrule {

namespace fs = std::filesystem;

fs::path RealPaths::of(const fs::path& path, std::error_code& problem) {
  const fs::file_type type = fs::symlink_status(path, problem).type();
  if (type == fs::file_type::not_found && !problem)
    problem = std::make_error_code(std::errc::no_such_file_or_directory);
  if (problem) return {};
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
}

}  // namespace ferrule
