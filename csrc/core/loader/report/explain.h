// Explains in one sentence why a backend is loaded or not.
#pragma once

#include "core/loader/report/load_report.h"

#include <ferrule/types.h>

#include <optional>
#include <string>
#include <string_view>

namespace ferrule {

// Explains the candidate of a name that got furthest. Case, and a colon with what follows it ("cpu:0"), are ignored in
// the name. For a name without candidates, the sentence lists the roots that were searched.
std::string explain(const LoadReport& report, std::string_view name);

// The device kind that a name means ("GPU", "gpu:1"), unless a candidate has this name.
std::optional<fe_device_kind> kind_to_explain(const LoadReport& report, std::string_view name);
// Lists the devices of a kind that are present now; without any, the backends that are loaded, and why those of the
// report that may drive such devices are not.
std::string explain(const LoadReport& report, fe_device_kind kind);
// The row of a name that got furthest, which is the loaded one if any; null when the name has no row.
const LoadRow* furthest_row(const LoadReport& report, std::string_view name);

}  // namespace ferrule
