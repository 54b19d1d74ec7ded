// Where NVRTC's library may be, and how a library is opened.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace ferrule::cuda {

struct LibraryLocation {
  const char* folder;  // in site-packages
  const char* name;
};
// Paths in the packages beside the module's, then names for the loader's search path. None over the emulator.
std::vector<std::string> library_files(std::span<const LibraryLocation> locations);
// Those of NVRTC, newest version first.
std::vector<std::string> library_files();

// Null if it cannot be opened; `complaint` then says why. It is never closed.
void* open_library(const std::string& file, std::string& complaint);
// Null if the library has no such function.
void* function_of(void* library, const char* name);

}  // namespace ferrule::cuda
