// Refuses files that a user can write who cannot write libferrule itself.
#pragma once

#include "core/loader/candidate/candidate.h"
#include "core/loader/options/load_policy.h"
#include "core/platform/files/file_writers.h"
#include "core/platform/files/folders.h"

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace ferrule {

// Serves one load: many modules share folders, and each folder is checked once.
class TrustCheck {
 public:
  explicit TrustCheck(Trust trust) : trust_(trust) {}

  RealPaths& real_paths() noexcept { return real_paths_; }

  // Refuses a candidate as unsafe when an untrusted user can write its file, its manifest, or a folder of their paths.
  // A candidate whose file the user named gets a note and a warning instead. Its real path must be known.
  void check_writers(Candidate& candidate);
  // Refuses a candidate without a manifest when the policy requires one.
  void check_manifest(Candidate& candidate) const;
  // Checks the libraries that come with a candidate. Refuses it when its libraries would be searched relative to the
  // current directory, even if the user named it (with Trust::any, adds a note); when an untrusted user can write one,
  // as in check_writers; and when the policy requires hashes and a library has none.
  void check_libraries(Candidate& candidate);

 private:
  void refuse_or_warn(Candidate& candidate, std::string complaint) const;
  void check_hashes_of_libraries(Candidate& candidate) const;
  // A sentence about an untrusted user who can write the file or a folder of its path; "" when there is none.
  std::string complaint_about_path(const std::filesystem::path& real);
  const std::string& complaint_about(const std::filesystem::path& path, WriterOf what);
  const std::string& complaint_about_folders(const std::filesystem::path& parent);

  using Text = std::filesystem::path::string_type;
  const Trust trust_;
  RealPaths real_paths_;
  std::map<std::pair<Text, WriterOf>, std::string> complaints_;
  std::map<Text, std::string> complaints_about_folders_;  // about a folder or one above it
};

}  // namespace ferrule
