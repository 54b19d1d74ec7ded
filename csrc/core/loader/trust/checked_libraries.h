// The libraries that come with a module, checked against the hashes in its manifest.
#pragma once

#include "core/loader/candidate/candidate.h"

#include <filesystem>
#include <vector>

namespace ferrule {

// One whose bytes have the hash in the manifest.
struct CheckedLibrary {
  std::filesystem::path path;  // real
  FileIdentity identity;
};

// Those of the manifest's that are there: opening a module finds the others elsewhere, or not at all. Throws a
// CandidateRefusal when one has another hash, or cannot be read.
std::vector<CheckedLibrary> checked_libraries(const Candidate& candidate);

// Whether the same files lie there now.
bool are_unchanged(const std::vector<CheckedLibrary>& libraries);

}  // namespace ferrule
