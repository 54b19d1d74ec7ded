// What a probe may take before it is ended.
#pragma once

#include <cstdint>

namespace ferrule::probe {

struct Limits {
  double seconds = 20;                        // of the worker, from its start to its end
  uint64_t bytes = uint64_t{4} << 30;         // of data, by each process; and resident, by all together
  std::size_t output = std::size_t{1} << 26;  // bytes that it may print
};

}  // namespace ferrule::probe
