// What of the system decides whether a module works, and may change without a change of any file that ferrule knows.
#pragma once

#include <string>

namespace ferrule {

// Differs after each start of the system; "" when the system does not tell.
std::string boot_id();

// Windows: the names and versions of the installed drivers of display adapters, a line each, as the registry has them.
// They can be replaced without a restart. "" elsewhere.
std::string display_drivers();

}  // namespace ferrule
