// What the file of a module tells before anything in it has run.
#pragma once

#include "sdk/tools/abi_version.h"

#include <optional>
#include <string>
#include <vector>

namespace ferrule::tools {

struct Image {
  std::string format;       // "ELF", "Mach-O", "PE"
  std::string problem;      // "" = none, else a sentence about the file ("it is ...")
  bool is_foreign = false;  // the problem is that it was built for another machine or system
  // Nothing where this reader does not know the format's symbols: the manifest tells, and the opened module.
  std::optional<AbiVersion> abi;
  bool has_init = false;
  bool has_score = false;
  // What it needs and where that is looked for, as an ELF file has it: names and paths, "$ORIGIN" not replaced.
  std::vector<std::string> libraries;
  std::vector<std::string> run_paths;  // DT_RPATH and DT_RUNPATH, each a list with colons
};

}  // namespace ferrule::tools
