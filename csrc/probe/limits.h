// The limits of a probe; it is ended when it exceeds one.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ferrule::probe {

struct Limits {
  double seconds = 20;                        // from the worker's start to its end
  uint64_t bytes = uint64_t{4} << 30;         // data of each process, and resident memory of all together
  std::size_t output = std::size_t{1} << 26;  // bytes of printed output
};

}  // namespace ferrule::probe
