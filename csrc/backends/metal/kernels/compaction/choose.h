// The numbers of the elements that a condition chooses, in C order, in the node's scratch memory (chosen.metal).
#pragma once

#include "graphs/plan.h"

namespace ferrule::metal {

// The kernels' struct of this name in chosen.metal has the same layout.
struct Chosen {
  uint64_t elements, segments, place;
};

// Adds the dispatches that find the elements of an input that are not zero, and the scratch memory for their numbers.
Chosen choose(Plan& plan, const PlannedNode& node, uint32_t input);

// Like choose, with the condition in scratch memory, one byte for each element.
Chosen choose_marked(Plan& plan, uint64_t place, int64_t elements);

}  // namespace ferrule::metal
