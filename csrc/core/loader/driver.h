// Whether the library of a driver is on this machine, found out without opening it.
#pragma once

#include <string>

namespace ferrule {

// `library` is a name as the system's loader takes it ("libm.so.6") or an absolute path.
bool is_library_present(const std::string& library);

}  // namespace ferrule
