// The options of load and load_all, as the C API takes them: JSON text.
#pragma once

#include "core/loader/load.h"

namespace ferrule {

// Of NULL and "" the defaults. Both throw invalid_argument with what is wrong.
LoadOptions load_all_options(const char* text);
Policy load_policy(const char* text);

}  // namespace ferrule
