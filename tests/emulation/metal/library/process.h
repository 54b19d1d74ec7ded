// Runs a program and waits for it.
#pragma once

#include <string>
#include <vector>

namespace emulation::metal {

struct ProcessResult {
  bool succeeded = false;
  std::string output, errors;
};

// `arguments[0]` is the path of the program. Throws std::runtime_error if it cannot be started.
ProcessResult run_process(const std::vector<std::string>& arguments);

}  // namespace emulation::metal
