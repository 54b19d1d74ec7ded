// Shared by the checks of invalid graphs.
#pragma once

#include "conformance/graph.h"

namespace ferrule::conformance {

// Reports a problem unless the device refuses node 0 of the graph: it does not support it, or compile returns an error
// with one of the codes.
void expect_refused(const Device& device, Graph& graph, const std::string& what, Report& report,
                    const std::vector<fe_code>& codes);

}  // namespace ferrule::conformance
