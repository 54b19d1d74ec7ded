// The numbers of the elements that a condition chooses, in C order, in the node's scratch memory (chosen.glsl).
#pragma once

#include "graphs/plan.h"

namespace ferrule::vulkan {

struct Chosen {
  int64_t elements;         // of the condition
  int64_t segments, place;  // as in chosen.glsl; `place` is `chosen` there
};

// Adds the dispatches that find the elements of an input that are not zero, and the scratch memory for their numbers.
Chosen choose(Plan& plan, const PlannedNode& node, uint32_t input, const Capabilities& capabilities);

// Like choose, with the condition in scratch memory, one byte for each element.
Chosen choose_marked(Plan& plan, uint64_t place, int64_t elements, const Capabilities& capabilities);

}  // namespace ferrule::vulkan
