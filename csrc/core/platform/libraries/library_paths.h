// The files and folders of this library and of the running program.
#pragma once

#include <filesystem>
#include <vector>

namespace ferrule {

// The folder of the running program; empty when it is unknown.
std::filesystem::path executable_dir();
// The file of libferrule, with links resolved; the program's when linked statically; empty when it is unknown.
std::filesystem::path library_file();
// The folder of the path by which libferrule was opened, and that of library_file() if it is another one: each file of
// an installation may be a link into a store, where nothing lies beside it. Empty when unknown.
std::vector<std::filesystem::path> library_dirs();

}  // namespace ferrule
