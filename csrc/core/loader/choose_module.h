// Opens the best runnable module of a name, and the next best when that fails.
#pragma once

#include "core/loader/candidate/candidate.h"
#include "core/loader/options/load_policy.h"
#include "core/loader/probe/prober.h"

#include <string>
#include <vector>

namespace ferrule {

// Opens candidates of one name, given in the order of roots, until one is loaded. The first root with a runnable module
// wins. Within a root, candidates with a manifest come first, by rank; then those without one, by their own score.
void choose_module(const std::vector<Candidate*>& candidates, Select select, const Prober& prober);

}  // namespace ferrule
