// What the file of a module tells before anything in it has run.
#pragma once

#include "sdk/tools/abi_version.h"

#include <optional>
#include <string>

namespace ferrule::tools {

struct Image {
  std::string format;       // "ELF", "Mach-O", "PE"
  std::string problem;      // "" = none, else a sentence about the file ("it is ...")
  bool is_foreign = false;  // the problem is that it was built for another machine or system
  // Nothing where this reader does not know the format's symbols: the manifest tells, and the opened module.
  std::optional<AbiVersion> abi;
  bool has_init = false;
  bool has_score = false;
};

}  // namespace ferrule::tools
