// Which shared libraries are mapped: what was opened, and what came with it.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ferrule {

// What is mapped at the moment this is made.
class MappedFiles {
 public:
  MappedFiles();

  // What came since, in the order in which it was opened, by the names that the system's loader has for it.
  std::vector<std::string> names_of_new() const;

 private:
  std::set<std::pair<uintptr_t, std::string>> there_;
};

}  // namespace ferrule
