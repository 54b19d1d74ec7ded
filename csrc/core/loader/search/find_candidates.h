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
  std::vector<Candidate> candidates;  // in the order of roots, then of file names
};

// Throws not_found when one of options.dirs is no folder.
Findings find_candidates(const LoadOptions& options);

// One file, by a path from the caller; its row names it as it was given. Refused when it has not the name of a module.
Candidate candidate_at(const std::filesystem::path& path);
// One file of any name. What its name does not tell, its manifest or its init does.
Candidate candidate_of_any_name(const std::filesystem::path& path);

// The folders that are searched without `dirs`: FERRULE_BACKEND_DIR, the compiled-in root, backends/ beside libferrule.
std::vector<std::filesystem::path> default_roots();

}  // namespace ferrule
