// Points of a queue, and the work between them.
#pragma once

#include <ferrule/backend.hpp>

#include <algorithm>
#include <array>
#include <optional>

#include "physical.h"

namespace ferrule::vulkan {

// A point in a queue: of each engine the number of the last work before it, 0 where there is none.
struct Moment {
  std::array<uint64_t, most_engines> values{};
  uint64_t last() const { return *std::max_element(values.begin(), values.end()); }
};

// The work between two events of a queue. The second one tells its error.
struct Span {
  Moment end = {};                       // where the second event is: does not change once that is there
  std::optional<sdk::Error> error = {};  // the first one, unless the device was lost; guarded by the timeline
};

}  // namespace ferrule::vulkan
