// Finds which shared libraries an opened library brought with it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ferrule {

// The libraries that are mapped when the object is constructed.
class MappedLibraries {
 public:
  MappedLibraries();

  // The names, as the system's loader has them, of the libraries mapped since, in the order of opening. They are taken
  // from the end of the system's list: when another thread closes one meanwhile, an older library is listed as well.
  std::vector<std::string> names_of_new() const;

 private:
  uint64_t opened_ = 0;  // libraries opened since the process started
};

}  // namespace ferrule
