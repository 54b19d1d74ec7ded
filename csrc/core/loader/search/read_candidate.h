// Step two of a load: reads a candidate's manifest and the headers of its file. Nothing is executed.
#pragma once

#include "core/loader/candidate/candidate.h"
#include "core/loader/trust/trust_check.h"

namespace ferrule {

// Fills in the manifest, the image and the identity. Refuses the candidate when one of them is invalid, or when an
// untrusted user can write the files.
void read_candidate(Candidate& candidate, TrustCheck& trust);

}  // namespace ferrule
