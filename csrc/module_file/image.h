// Facts read from a module's file without running it.
#pragma once

#include "module_file/abi_version.h"
#include "module_file/path_text.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace ferrule::module_file {

// The modules that a reader takes: those of this system and machine, or all, as for tools that build for other systems.
enum class Systems { ours, all };

struct Image {
  std::string format;       // "ELF", "Mach-O", "PE"
  std::string problem;      // "" = none, else a sentence about the file ("it is ...")
  bool is_foreign = false;  // the problem is that it was built for another machine or system
  // nullopt for formats whose symbols are not read; the manifest and the opened module have it.
  std::optional<AbiVersion> abi;
  bool has_init = false;
  bool has_score = false;
  // The needed libraries of an ELF or PE file, and the run paths of an ELF file: names and paths, "$ORIGIN" not
  // replaced.
  std::vector<std::string> libraries;
  std::vector<std::string> run_paths;  // DT_RPATH and DT_RUNPATH, each a list separated by colons

  // The needed libraries that are in a folder.
  std::vector<std::filesystem::path> libraries_in(const std::filesystem::path& folder) const {
    std::vector<std::filesystem::path> found;
    std::error_code problem;
    for (const std::string& name : libraries)
      if (name.find('/') == std::string::npos &&
          std::filesystem::is_regular_file(folder / path_from_text(name), problem))
        found.push_back(folder / path_from_text(name));
    return found;
  }
};

}  // namespace ferrule::module_file
