// Why a backend is there or is not, as one sentence that a person can act on.
#pragma once

#include "core/loader/report/load_report.h"

#include <ferrule/types.h>

#include <optional>
#include <string>
#include <string_view>

namespace ferrule {

// Of several candidates of the name, which counts without case and up to a colon ("cpu:0"), the one that came furthest
// speaks. A name that nothing was found for is answered, too: with the roots that were looked into.
std::string explain(const LoadReport& report, std::string_view name);

// The kind of device that a name means ("GPU", "gpu:1"), unless a candidate has it for its name.
std::optional<fe_device_kind> kind_to_explain(const LoadReport& report, std::string_view name);
// The devices of a kind that there are now, or which backends are loaded that drive none, and which of the report are
// not loaded.
std::string explain(const LoadReport& report, fe_device_kind kind);
// The row of a name that is loaded, else the one that came furthest; null when there is none.
const LoadRow* furthest_row(const LoadReport& report, std::string_view name);

}  // namespace ferrule
