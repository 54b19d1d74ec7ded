// Parses the options of load and load_all, which the C API takes as JSON text.
#pragma once

#include "core/loader/options/load_options.h"

#include <string>

namespace ferrule {

// The options of load(), which takes one file.
struct FileOptions {
  Policy policy;
  std::string as_name;
};

// NULL and "" give the defaults. Both throw invalid_argument.
LoadOptions load_all_options(const char* text);
FileOptions load_options(const char* text);

}  // namespace ferrule
