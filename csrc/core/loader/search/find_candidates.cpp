#include "core/loader/search/find_candidates.h"

#include "core/environment.h"
#include "core/error.h"
#include "core/loader/search/read_candidate.h"
#include "core/platform/files/folders.h"
#include "core/platform/libraries/library_paths.h"
#include "module_file/module_name.h"
#include "module_file/path_text.h"

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>

#ifndef FERRULE_DEFAULT_BACKEND_DIR
#define FERRULE_DEFAULT_BACKEND_DIR ""
#endif

namespace ferrule {
namespace {

namespace fs = std::filesystem;

constexpr const char* files_variable = "FERRULE_BACKEND_PATH";
constexpr const char* folders_variable = "FERRULE_BACKEND_DIR";

struct Folder {
  fs::path path;
  std::string origin;
  bool is_named;  // named by the user: the report says when it is missing
};

std::vector<Folder> default_folders(const std::vector<fs::path>& extra) {
  std::vector<Folder> folders;
  for (const fs::path& path : environment_paths(folders_variable)) folders.push_back({path, folders_variable, true});
  const std::vector<fs::path> libraries = library_dirs();
  const fs::path compiled_in = FERRULE_DEFAULT_BACKEND_DIR;
  if (compiled_in.is_absolute())
    folders.push_back({compiled_in, "compiled in", false});
  else if (!compiled_in.empty())
    for (const fs::path& library : libraries) folders.push_back({library / compiled_in, "compiled in", false});
  for (const fs::path& library : libraries) folders.push_back({library / "backends", "beside libferrule", false});
  for (const fs::path& path : extra) folders.push_back({path, "installed packages", false});
  return folders;
}

std::vector<Folder> folders_of(const LoadOptions& options) {
  if (!options.dirs) return default_folders(options.extra_roots);
  std::vector<Folder> folders;
  for (const fs::path& dir : *options.dirs) {
    std::error_code problem;
    if (dir.empty() || !fs::is_directory(dir, problem))
      fail(FE_NOT_FOUND, "load_all: the folder '{}' in dirs does not exist", path_to_text(dir));
    folders.push_back({fs::absolute(dir), "dirs", true});
  }
  return folders;
}

// Adds every entry of a folder that has the name of a module. Entries that are not files are refused later. Subfolders
// are not searched.
void scan(const fs::path& folder, std::size_t root, Findings& found) {
  std::vector<fs::path> files;
  const std::error_code problem = visit_entries(folder, [&](const fs::path& path) {
    if (module_file::parse_module_name(path_to_text(path.filename()))) files.push_back(path);
    return true;
  });
  if (problem) found.roots[root].problem = "it cannot be read: " + problem.message();
  std::sort(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) { return a.native() < b.native(); });
  found.candidates.reserve(found.candidates.size() + files.size());
  for (const fs::path& file : files) {
    Candidate candidate = candidate_at(file);
    candidate.root = root;
    candidate.row.root = path_to_text(folder);
    found.candidates.push_back(std::move(candidate));
  }
  found.roots[root].candidates = files.size();
}

// A path whose name is not that of a module may be wrong in a way that says more.
void refuse_for_path(Candidate& candidate) {
  std::error_code problem;
  static_cast<void>(fs::canonical(candidate.path, problem));
  if (problem)
    candidate.refuse(LoadState::error, FE_NOT_FOUND, complaint_about_path(candidate.path, problem));
  else if (fs::is_directory(candidate.path, problem))
    candidate.refuse(LoadState::error, FE_INVALID_ARGUMENT, "it is a folder; FERRULE_BACKEND_DIR takes folders");
}

void add_named_files(Findings& found) {
  const std::vector<fs::path> files = environment_paths(files_variable);
  if (files.empty()) return;
  const std::size_t root = found.roots.size();
  found.roots.push_back({files_variable, files_variable, files.size(), ""});
  for (const fs::path& file : files) {
    Candidate candidate = candidate_at(file);
    candidate.root = root;
    candidate.row.root = files_variable;
    candidate.is_named = true;
    if (!file.is_absolute())
      candidate.refuse(LoadState::error, FE_INVALID_ARGUMENT, "a path in FERRULE_BACKEND_PATH must be absolute");
    else if (candidate.is_refused)
      refuse_for_path(candidate);
    found.candidates.push_back(std::move(candidate));
  }
}

void add_folder(const Folder& folder, Findings& found, std::vector<fs::path>& seen) {
  std::error_code problem;
  const fs::path real = fs::weakly_canonical(folder.path, problem);
  if (std::find(seen.begin(), seen.end(), real) != seen.end()) return;
  seen.push_back(real);
  const std::size_t root = found.roots.size();
  const bool exists = fs::is_directory(folder.path, problem);
  if (!exists && !folder.is_named) return;
  found.roots.push_back({path_to_text(folder.path), folder.origin, 0, ""});
  if (!folder.path.is_absolute())
    found.roots[root].problem = "it is a relative path, and in a variable a path must be absolute";
  else if (!exists)
    found.roots[root].problem = "there is no such folder";
  else
    scan(folder.path, root, found);
}

}  // namespace

Candidate candidate_of_any_name(const fs::path& path) {
  Candidate candidate = candidate_at(path);
  if (!candidate.is_refused) return candidate;
  candidate = {};
  candidate.path = path;
  candidate.row.path = path_to_text(path);
  candidate.is_named = true;
  return candidate;
}

Candidate candidate_at(const fs::path& path) {
  Candidate candidate;
  candidate.path = path;
  candidate.row.path = path_to_text(path);
  const auto name = module_file::parse_module_name(path_to_text(path.filename()));
  if (name) {
    candidate.row.name = name->name;
    candidate.row.variant = name->variant;
    if (!name->problem.empty()) candidate.refuse(LoadState::error, FE_INVALID_ARGUMENT, name->problem);
  } else {
    candidate.refuse(LoadState::error, FE_INVALID_ARGUMENT,
                     "its name is not [lib]ferrule-<name>[-<variant>]" + std::string(module_file::module_endings[0]));
  }
  return candidate;
}

Findings find_candidates(const LoadOptions& options) {
  const std::vector<Folder> folders = folders_of(options);
  Findings found;
  std::vector<fs::path> seen;
  add_named_files(found);
  for (const Folder& folder : folders) add_folder(folder, found, seen);
  return found;
}

std::vector<fs::path> default_roots() {
  std::vector<fs::path> paths;
  for (Folder& folder : default_folders({})) paths.push_back(std::move(folder.path));
  return paths;
}

}  // namespace ferrule
