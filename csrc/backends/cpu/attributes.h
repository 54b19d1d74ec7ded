// Copies of the attribute structs of a view, which live as long as the executable.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "operands.h"

namespace ferrule::cpu {

class Attributes {
 public:
  // Copies a struct with the lists and strings that `kernel` declares in it. Null for null.
  const void* keep(const Kernel& kernel, const void* attributes);

 private:
  std::byte* copy(const void* from, size_t size);

  std::vector<std::unique_ptr<std::byte[]>> kept_;
};

}  // namespace ferrule::cpu
