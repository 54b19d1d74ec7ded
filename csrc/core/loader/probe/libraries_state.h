// The state of the libraries and drivers that a module depends on: a part of the key under which its verdict is kept.
#pragma once

#include "core/loader/candidate/candidate.h"

#include <string>

namespace ferrule {

// A text that changes when a driver does. It tells which files lie behind the libraries that the manifest names, that
// come with the module, and that these or the module are linked with; where a loader of drivers is among them
// (driver_files.h), also what lies behind the files that this loader reads. The C library does not count.
std::string libraries_state(const Candidate& candidate);

}  // namespace ferrule
