// Step three of a load: refuses candidates that are disabled or cannot run here, and orders the others by rank.
#pragma once

#include "core/loader/candidate/candidate.h"

#include <string>
#include <vector>

namespace ferrule {

// Refuses a candidate whose name is disabled. Called before its file is read.
void refuse_disabled(Candidate& candidate, const std::vector<std::string>& only);
// Refuses a candidate that this core or machine cannot run, as far as that is known without opening it.
void refuse_incompatible(Candidate& candidate);

// Orders candidates of one name and root as they are tried: highest rank first, ties by file name.
std::vector<Candidate*> in_order_of_rank(const std::vector<Candidate*>& candidates);

}  // namespace ferrule
