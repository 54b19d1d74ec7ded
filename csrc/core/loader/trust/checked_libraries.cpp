#include "core/loader/trust/checked_libraries.h"

#include "core/loader/candidate/candidate.h"
#include "core/loader/trust/file_hash.h"
#include "module_file/file_bytes.h"
#include "module_file/path_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <system_error>

namespace ferrule {
namespace {

namespace fs = std::filesystem;

// A manifest names a library by its path relative to the module's folder, in UTF-8.
fs::path path_of(const Candidate& candidate, const std::string& name) {
  return candidate.real.parent_path() / path_from_text(name);
}

CheckedLibrary checked_library(const Candidate& candidate, const std::string& name, const std::string& hash) {
  std::error_code problem;
  const fs::path path = fs::canonical(path_of(candidate, name), problem);
  module_file::FileBytes file(path, module_file::Links::refuse);
  const auto identity = file.identity();
  if (problem || !identity)
    throw CandidateRefusal{LoadState::error, FE_IO, fmt::format("{}, which comes with it, cannot be read", name)};
  if (hash_of(file, path) != hash)
    throw CandidateRefusal{
        LoadState::error, FE_IO,
        fmt::format("the SHA-256 of {}, which comes with it, is not the one in its manifest: the file was "
                    "changed after the manifest was written",
                    name)};
  return {path, *identity};
}

}  // namespace

std::vector<CheckedLibrary> checked_libraries(const Candidate& candidate) {
  std::vector<CheckedLibrary> checked;
  if (!candidate.manifest) return checked;
  for (const auto& [name, hash] : candidate.manifest->libraries) {
    std::error_code problem;
    if (fs::exists(path_of(candidate, name), problem)) checked.push_back(checked_library(candidate, name, hash));
  }
  return checked;
}

bool are_unchanged(const std::vector<CheckedLibrary>& libraries) {
  return std::all_of(libraries.begin(), libraries.end(), [](const CheckedLibrary& library) {
    return module_file::FileBytes::identity_at(library.path) == library.identity;
  });
}

}  // namespace ferrule
