// Offsets of slices whose starts are known only at execution.
#pragma once

#include "base/dtype.h"

#include <cstdint>
#include <vector>

namespace ferrule {

// A term of an offset: the value of a scalar of the graph, from 0 to `most`, times `stride` elements.
struct DynamicStart {
  uint32_t scalar = 0;
  DType dtype = DType::int64;  // of the scalar
  int64_t stride = 0;
  int64_t most = 0;
  friend bool operator==(const DynamicStart&, const DynamicStart&) = default;
};

// The terms that are added to an offset at execution; empty if the offset is known when the graph is compiled.
using DynamicOffset = std::vector<DynamicStart>;

}  // namespace ferrule
