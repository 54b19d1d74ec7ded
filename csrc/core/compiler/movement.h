// The start of a slice, when it is known only as the graph is computed.
#pragma once

#include "ops/dtype.h"

#include <cstdint>
#include <vector>

namespace ferrule {

// So many steps of `stride` elements as a scalar of the graph says, from 0 to `most`.
struct MovingStart {
  uint32_t scalar = 0;
  DType dtype = DType::int64;  // of the scalar
  int64_t stride = 0;
  int64_t most = 0;
  friend bool operator==(const MovingStart&, const MovingStart&) = default;
};

// All that is added to an offset; empty: it is known when the graph is compiled.
using Movement = std::vector<MovingStart>;

}  // namespace ferrule
