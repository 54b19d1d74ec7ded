// Opens the best runnable module of a name, or the next one when it fails.
#pragma once

#include "core/loader/candidate/candidate.h"
#include "core/loader/options/load_policy.h"
#include "core/loader/probe/prober.h"

#include <string>
#include <vector>

namespace ferrule {

// Candidates of one name, in the order of roots; those that can run are opened until one is loaded. The first root with
// a runnable module wins; within it those with a manifest go by rank, then those without one by their own score.
void choose_module(const std::vector<Candidate*>& candidates, Select select, const Prober& prober);

}  // namespace ferrule
