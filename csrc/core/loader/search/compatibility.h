// Step three of a load: refuses candidates that are disabled or cannot run here, and orders the others by rank.
#pragma once

#include "core/loader/candidate/candidate.h"

#include <string>
#include <vector>

namespace ferrule {

// Refuses what is switched off; done before its file is read.
void refuse_disabled(Candidate& candidate, const std::vector<std::string>& only);
// Refuses what this core or this machine cannot run, as far as that can be told without opening it.
void refuse_incompatible(Candidate& candidate);

// Those of one name and one root that are opened one after the other until one works: by rank, ties by file name.
std::vector<Candidate*> in_order_of_rank(const std::vector<Candidate*>& candidates);

}  // namespace ferrule
