// Step two of a load: reads a candidate's manifest and the headers of its file. Nothing is executed.
#pragma once

#include "core/loader/candidate/candidate.h"
#include "core/loader/trust/trust_check.h"

#include <filesystem>
#include <string>
#include <system_error>

namespace ferrule {

// Fills in the manifest, the image and the identity. Refuses the candidate when one of them is invalid, or when an
// untrusted user can write the files.
void read_candidate(Candidate& candidate, TrustCheck& trust);

// A sentence that says why a path does not lead to a file; `problem` is that of fs::canonical.
std::string complaint_about_path(const std::filesystem::path& path, const std::error_code& problem);

}  // namespace ferrule
