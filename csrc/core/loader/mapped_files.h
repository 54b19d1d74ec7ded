// Which shared libraries are mapped: what was opened, and what came with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ferrule {

// What is mapped at the moment this is made.
class MappedFiles {
 public:
  // Where a library lies, and the hash of its name: another one may come to lie there.
  using Mark = std::pair<uintptr_t, std::size_t>;

  MappedFiles();

  // What came since, in the order in which it was opened, by the names that the system's loader has for it.
  std::vector<std::string> names_of_new() const;

 private:
  std::vector<Mark> there_;  // in order
};

}  // namespace ferrule
