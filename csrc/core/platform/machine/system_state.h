// Facts about the system that are part of a verdict's key: a module may work no longer when one of them changes.
#pragma once

#include <string>

namespace ferrule {

// Differs after each start of the system; "" when the system does not tell.
std::string boot_id();

// Windows: the names and versions of the installed drivers of display adapters, a line each, as the registry has them.
// They can be replaced without a restart. "" elsewhere.
std::string display_drivers();

}  // namespace ferrule
