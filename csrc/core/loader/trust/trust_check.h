// Whose files are opened: none that someone can write who cannot write libferrule itself.
#pragma once

#include "core/loader/candidate/candidate.h"
#include "core/loader/options/load_policy.h"
#include "core/platform/file_writers.h"
#include "core/platform/folders.h"

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace ferrule {

// For one load: many modules share folders, and each folder is asked about once.
class TrustCheck {
 public:
  explicit TrustCheck(Trust trust) : trust_(trust) {}

  RealPaths& real_paths() noexcept { return real_paths_; }

  // Refuses a candidate, whose real path is known, as unsafe. What the user named by its file gets a note and a warning
  // instead.
  void check_writers(Candidate& candidate);
  // Refuses what has no manifest, where the policy wants one.
  void check_manifest(Candidate& candidate) const;
  // Refuses what would take libraries from the current directory, whoever named it; as unsafe, as above, what others
  // can write of the libraries that come with it; and where the policy wants hashes, what has a library without one.
  void check_libraries(Candidate& candidate);

 private:
  void refuse_or_warn(Candidate& candidate, std::string complaint) const;
  void check_hashes_of_libraries(Candidate& candidate) const;
  // A sentence about who else can write the file or a folder on its path; "" when nobody can.
  std::string complaint_about_path(const std::filesystem::path& real);
  const std::string& complaint_about(const std::filesystem::path& path, WriterOf what);
  const std::string& complaint_about_folders(const std::filesystem::path& parent);

  using Text = std::filesystem::path::string_type;
  const Trust trust_;
  RealPaths real_paths_;
  std::map<std::pair<Text, WriterOf>, std::string> complaints_;
  std::map<Text, std::string> complaints_about_folders_;  // about any on the way
};

}  // namespace ferrule
