// The files and folders of this library and of the running program.
#pragma once

#include <filesystem>

namespace ferrule {

// The folder of the running program; empty when it is unknown.
std::filesystem::path executable_dir();
// The file of libferrule, which is the program's when linked statically; empty when it is unknown.
std::filesystem::path library_file();
// The folder of library_file().
std::filesystem::path library_dir();

}  // namespace ferrule
