// The options of load and load_all, as the C API takes them: JSON text.
#pragma once

#include "core/loader/options/load_options.h"

#include <string>

namespace ferrule {

// Of load(), which takes one file.
struct FileOptions {
  Policy policy;
  std::string as_name;
};

// Of NULL and "" the defaults. Both throw invalid_argument with what is wrong.
LoadOptions load_all_options(const char* text);
FileOptions load_options(const char* text);

}  // namespace ferrule
