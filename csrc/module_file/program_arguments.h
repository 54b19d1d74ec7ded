// The arguments of a program's main() as UTF-8 text, on every system.
#pragma once

#include <string>
#include <vector>

#if defined(_WIN32)
#include "windows/text.h"
#endif

namespace ferrule {

// The arguments without the program's own name.
inline std::vector<std::string> program_arguments([[maybe_unused]] int count, [[maybe_unused]] char** words) {
#if defined(_WIN32)
  return windows::program_arguments();
#else
  return std::vector<std::string>(words + 1, words + count);
#endif
}

}  // namespace ferrule
