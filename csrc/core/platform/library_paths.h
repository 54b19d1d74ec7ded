// Where this library and the program lie.
#pragma once

#include <filesystem>

namespace ferrule {

// The folder of the running program; empty when the system does not tell.
std::filesystem::path executable_dir();
// libferrule itself, which is the program when it is linked in; empty when the system does not tell.
std::filesystem::path library_file();
// The folder of library_file().
std::filesystem::path library_dir();

}  // namespace ferrule
