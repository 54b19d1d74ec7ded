// Step four: what may not be trusted to run here is tried in a process of its own first.
#pragma once

#include "core/loader/candidate.h"
#include "core/loader/policy.h"

#include <string>

namespace ferrule {

// `hash` is the SHA-256 of the candidate's file. Fills in what the row tells of the probe; throws a Refusal when the
// module must not be opened.
void probe_module(Candidate& candidate, const std::string& hash, const Policy& policy);

}  // namespace ferrule
