// The state of the libraries and drivers that a module depends on, which is part of the key of its verdict.
#pragma once

#include "core/loader/candidate/candidate.h"

#include <string>

namespace ferrule {

// A text that changes when a driver or library of the module changes. It identifies the files of the libraries that the
// manifest names, that come with the module, and that the module or a library that comes with it is linked with. It
// includes what else the manifest declares of its drivers: environment variables, the files that they read
// (driver_files.h), and version files of their other parts. The C library is left out.
std::string libraries_state(const Candidate& candidate);

}  // namespace ferrule
