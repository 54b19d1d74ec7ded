// Finds and opens NVIDIA's optional libraries.
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
// The files of NVRTC, newest version first.
std::vector<std::string> library_files();

// Null if it cannot be opened; `complaint` then says why. It is never closed.
void* open_library(const std::string& file, std::string& complaint);
// Null if the library has no such function.
void* function_of(void* library, const char* name);

// Sets a pointer to a function of this name. False if the library lacks it, which `complaint` then says.
template <class Function>
bool find_function(void* library, const std::string& name, Function& slot, std::string& complaint) {
  slot = reinterpret_cast<Function>(function_of(library, name.c_str()));
  if (slot == nullptr) complaint = "it has no function " + name;
  return slot != nullptr;
}

// Returns the result of `use(library, file, problem)` for the first file that can be opened and used. For a library
// that does not suit, `use` returns null and says why in `problem`. Null if no file suits; `complaint` then says what
// each file lacks.
template <class Use>
auto open_first(const std::vector<std::string>& files, std::string& complaint, const Use& use) {
  using Result = decltype(use(nullptr, files[0], complaint));
  for (const std::string& file : files) {
    std::string problem;
    void* const library = open_library(file, problem);
    if (Result used = library != nullptr ? use(library, file, problem) : nullptr; used != nullptr) return used;
    if (!complaint.empty()) complaint += "; ";
    complaint.append(file).append(": ").append(problem);
  }
  if (complaint.empty()) complaint = "no file was searched for";
  return Result();
}

}  // namespace ferrule::cuda
