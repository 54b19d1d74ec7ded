// What the checks of bad graphs share.
#pragma once

#include "conformance/graph.h"

namespace ferrule::conformance {

// A problem unless the device refuses node 0 of the graph: by an error of compile with one of the codes, or because it
// does not support it.
void expect_refused(const Device& device, Graph& graph, const std::string& what, Report& report,
                    const std::vector<fe_code>& codes);

}  // namespace ferrule::conformance
