// Why a backend is there or is not, as one sentence that a person can act on.
#pragma once

#include "core/loader/report.h"

#include <string>
#include <string_view>

namespace ferrule {

// Of several candidates of the name, which counts without case, the one that came furthest speaks. A name that nothing
// was found for is answered, too: with the roots that were looked into.
std::string explain(const LoadReport& report, std::string_view name);

// The row of a name that is loaded, else the one that came furthest; null when there is none.
const LoadRow* furthest_row(const LoadReport& report, std::string_view name);

}  // namespace ferrule
