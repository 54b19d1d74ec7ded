// Step one: which files are candidates.
#pragma once

#include "core/loader/candidate.h"
#include "core/loader/load.h"
#include "core/loader/report.h"

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

}  // namespace ferrule
