// Runs clang. The first run starts it once as a server (compiler_server.c), whose forks serve all runs of this process.
#pragma once

#include <string>
#include <vector>

namespace emulation::metal {

struct CompilerResult {
  bool succeeded = false;
  std::string output, errors;
};

// `arguments[0]` is the path of clang. Waits for the end of the run. Thread-safe. Throws std::runtime_error if clang
// cannot be started.
CompilerResult run_compiler(const std::vector<std::string>& arguments);

}  // namespace emulation::metal
