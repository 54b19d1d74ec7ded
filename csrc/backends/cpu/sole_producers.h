// Finds the results that exist only for one reader, which may then compute them itself.
#pragma once

#include <optional>
#include <vector>

#include <ferrule/backend.hpp>

namespace ferrule::cpu {

// For each node, the node whose only result it reads as input 0, as a whole and in order, if nothing else reads that
// result and what that node reads is unchanged until the end of this one.
std::vector<std::optional<uint32_t>> sole_producers(const fe_graph_view& view);

}  // namespace ferrule::cpu
