// The state of the libraries and drivers that a module depends on: a part of the key under which its verdict is kept.
#pragma once

#include "core/loader/candidate/candidate.h"

#include <string>

namespace ferrule {

// A text that changes when a driver, or what the driver shows, changes. It identifies the files behind the libraries that
// the manifest names, that come with the module, and that these or the module are linked with; and what else the manifest
// declares of its drivers: variables of the environment, the files that they read (driver_files.h), and version files of
// their other parts. The C library does not count.
std::string libraries_state(const Candidate& candidate);

}  // namespace ferrule
