// Step one of a load: finds the files that may be modules.
#pragma once

#include "core/loader/candidate/candidate.h"
#include "core/loader/options/load_options.h"
#include "core/loader/report/load_report.h"

#include <filesystem>
#include <vector>

namespace ferrule {

struct Findings {
  std::vector<LoadRoot> roots;
  std::vector<Candidate> candidates;  // ordered by root, then by file name
};

// Throws not_found when one of options.dirs is not a folder.
Findings find_candidates(const LoadOptions& options);

// The candidate of one file. Its row has the path as given. It is refused when its name is not that of a module.
Candidate candidate_at(const std::filesystem::path& path);
// The candidate of a file of any name. When the file's name is not that of a module, its manifest or its init provides
// the backend's name.
Candidate candidate_of_any_name(const std::filesystem::path& path);

// The folders that are searched without `dirs`: FERRULE_BACKEND_DIR, the compiled-in root, backends/ beside libferrule.
std::vector<std::filesystem::path> default_roots();

}  // namespace ferrule
