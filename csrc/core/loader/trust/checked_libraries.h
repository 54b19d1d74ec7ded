// Checks the libraries that come with a module against the hashes in its manifest.
#pragma once

#include "core/loader/candidate/candidate.h"

#include <filesystem>
#include <vector>

namespace ferrule {

// A library whose hash equals the one in the manifest.
struct CheckedLibrary {
  std::filesystem::path path;  // real
  FileIdentity identity;
};

// The libraries of the manifest that exist; opening the module finds the others elsewhere, or not at all. Throws a
// CandidateRefusal when one has another hash or cannot be read.
std::vector<CheckedLibrary> checked_libraries(const Candidate& candidate);

// Whether the same files are at these paths now.
bool are_unchanged(const std::vector<CheckedLibrary>& libraries);

}  // namespace ferrule
