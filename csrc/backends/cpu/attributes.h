// Copies of the attribute structs of a view, which live as long as what was compiled from it.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "operands.h"

namespace ferrule::cpu {

class Attributes {
 public:
  // A copy with the same layout, with the lists and strings that `kernel` says are in it; null for null.
  const void* keep(const Kernel& kernel, const void* attributes);

 private:
  std::byte* copy(const void* from, size_t size);

  std::vector<std::unique_ptr<std::byte[]>> kept_;
};

}  // namespace ferrule::cpu
