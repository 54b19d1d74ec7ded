// Conversion of fe_load_options from the host C API.
#pragma once

#include "core/loader/options/load_options.h"

#include <ferrule/ferrule.h>

#include <string>

namespace ferrule {

// The options of load(), which takes one file.
struct FileOptions {
  Policy policy;
  std::string as_name;
};

// NULL gives the defaults. Both throw invalid_argument for a wrong value, and for a field that the function does not
// have.
LoadOptions load_all_options(const fe_load_options* given);
FileOptions load_options(const fe_load_options* given);

}  // namespace ferrule
