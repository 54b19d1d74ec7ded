#include "core/loader/trust/trust_check.h"

#include "core/error.h"
#include "core/loader/candidate/manifest_file.h"
#include "core/log.h"
#include "core/platform/libraries/library_paths.h"
#include "core/sync/once.h"
#include "module_file/run_paths.h"
#include "module_file/path_text.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>

namespace ferrule {
namespace {

namespace fs = std::filesystem;

// Users who can write libferrule can run any code in this process already, so they are trusted.
const std::set<Writer>& writers_of_libferrule() {
  static constinit Once<std::set<Writer>> writers;
  return writers.get([] {
    try {
      return writers_of_whole_path(library_file());
    } catch (const Error& error) {
      log_debug("trust: who can write libferrule is unknown: {}", error.what());
      return std::set<Writer>();
    }
  });
}

std::string complaint_of(const fs::path& path, WriterOf what) {
  try {
    for (const Writer& writer : writers_of(path, what))
      if (!is_among(writer, writers_of_libferrule()))
        return fmt::format(
            "{} can be written by {}, and libferrule cannot be: {}, name the file itself in FERRULE_BACKEND_PATH, or "
            "allow it with trust=\"any\" or FERRULE_TRUST=any",
            path_to_text(path), describe(writer), advice_against(writer, path));
    return "";
  } catch (const Error& error) {
    return fmt::format("who can write it is unknown: {}", error.what());
  }
}

}  // namespace

const std::string& TrustCheck::complaint_about(const fs::path& path, WriterOf what) {
  const auto [place, is_new] = complaints_.try_emplace({path.native(), what});
  if (is_new) place->second = complaint_of(path, what);
  return place->second;
}

const std::string& TrustCheck::complaint_about_folders(const fs::path& parent) {
  const auto [place, is_new] = complaints_about_folders_.try_emplace(parent.native());
  std::string& complaint = place->second;
  if (!is_new) return complaint;
  complaint = complaint_about(parent, WriterOf::folder);
  for (fs::path folder = parent; complaint.empty() && folder != folder.parent_path();) {
    folder = folder.parent_path();
    complaint = complaint_about(folder, WriterOf::folder_above);
  }
  return complaint;
}

std::string TrustCheck::complaint_about_path(const fs::path& real) {
  if (std::string complaint = complaint_about(real, WriterOf::file); !complaint.empty()) return complaint;
  return complaint_about_folders(real.parent_path());
}

void TrustCheck::check_writers(Candidate& candidate) {
  if (candidate.is_refused || trust_ == Trust::any) return;
  std::string complaint = complaint_about_path(candidate.real);
  std::error_code problem;
  const fs::path manifest = real_paths_.of(candidate.manifest_file, problem);
  if (complaint.empty() && !problem) complaint = complaint_about_path(manifest);
  refuse_or_warn(candidate, std::move(complaint));
}

void TrustCheck::refuse_or_warn(Candidate& candidate, std::string complaint) const {
  if (complaint.empty()) return;
  if (!candidate.is_named) return candidate.refuse(LoadState::unsafe, FE_UNSUPPORTED, std::move(complaint));
  log_warning("{}: {}", path_to_text(candidate.path), complaint);
  candidate.row.notes.push_back(std::move(complaint));
}

void TrustCheck::check_manifest(Candidate& candidate) const {
  if (candidate.is_refused || trust_ != Trust::manifest_hash) return;
  if (candidate.manifest) return candidate.manifest->code_sha256.clear();  // the hash of the file must match
  candidate.refuse(LoadState::unsafe, FE_UNSUPPORTED,
                   fmt::format("it has no manifest {}, and trust=\"manifest-hash\" (or FERRULE_TRUST) requires one "
                               "with its SHA-256; ferrule-manifest writes it",
                               path_to_text(manifest_path(candidate.path).filename())));
}

// Checks that every library has a hash. The hashes themselves are checked before the module is opened.
void TrustCheck::check_hashes_of_libraries(Candidate& candidate) const {
  if (trust_ != Trust::manifest_hash || !candidate.manifest) return;
  const auto refuse = [&](std::string reason) {
    candidate.refuse(LoadState::unsafe, FE_UNSUPPORTED, std::move(reason));
  };
  const auto& hashes = candidate.manifest->libraries;
  for (const module_file::OwnLibrary& library : candidate.libraries) {
    if (!hashes.contains(library.name))
      return refuse(
          fmt::format("opening it opens {}, which comes with it, but its manifest has no SHA-256 of that; "
                      "ferrule-manifest writes it",
                      library.name));
    if (!library.problem.empty())
      return refuse(
          fmt::format("opening it opens {}, and what that opens is unknown: {}", library.name, library.problem));
  }
  for (const auto& [name, hash] : hashes) {
    std::error_code problem;
    if (!fs::is_regular_file(candidate.real.parent_path() / path_from_text(name), problem))
      return refuse(fmt::format("its manifest has the SHA-256 of {}, which does not exist", name));
  }
}

void TrustCheck::check_libraries(Candidate& candidate) {
  if (candidate.is_refused) return;
  if (trust_ != Trust::any) {
    for (const module_file::OwnLibrary& library : candidate.libraries) {
      std::error_code problem;
      const fs::path real = real_paths_.of(library.path, problem);
      if (!problem && !candidate.is_refused) refuse_or_warn(candidate, complaint_about_path(real));
    }
    if (!candidate.is_refused) check_hashes_of_libraries(candidate);
    if (candidate.is_refused) return;
  }
  std::string complaint = module_file::complaint_about_relative_paths(candidate.image);
  if (complaint.empty()) return;
  if (trust_ == Trust::any) return candidate.row.notes.push_back(std::move(complaint));
  candidate.refuse(LoadState::unsafe, FE_UNSUPPORTED, std::move(complaint));
}

}  // namespace ferrule
