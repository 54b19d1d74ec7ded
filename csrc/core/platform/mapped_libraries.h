// Which shared libraries are mapped: what was opened, and what came with it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ferrule {

// What is mapped at the moment this is made.
class MappedLibraries {
 public:
  MappedLibraries();

  // What came since, in the order in which it was opened, by the names that the system's loader has for it. The system
  // lists what came last at the end: when another thread closes such a library meanwhile, one more is named.
  std::vector<std::string> names_of_new() const;

 private:
  uint64_t opened_ = 0;  // libraries, in the life of this process
};

}  // namespace ferrule
