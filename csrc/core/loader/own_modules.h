// The modules that came with libferrule, in the same package: they were tried when it was built.
#pragma once

#include <string>

namespace ferrule {

// Whether a file with this SHA-256 did. Told by own-modules.json beside libferrule, which the installation writes; who
// can write that can write libferrule.
bool is_own_module(const std::string& sha256);

}  // namespace ferrule
