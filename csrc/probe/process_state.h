// The process state that a library shares with the program that opens it, and must not change.
#pragma once

#include <array>
#include <csignal>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ferrule::probe {

// The state of this process as the calling thread sees it.
struct ProcessState {
  static ProcessState now();

  std::string locale, folder;
  int umask = 0;
  bool keeps_denormals = true;          // both operands and results
  int rounding = 0;                     // a value of <cfenv>
  int traps = 0;                        // floating-point exceptions that end the program
  std::vector<uint64_t> streams;        // device and inode of each standard stream
  std::vector<void (*)(int)> handlers;  // indexed by signal
  std::vector<bool> is_blocked;         // indexed by signal
  std::map<std::string, std::string> environment;
};

// Sentences about what changed, apart from the environment: "it sets flush-to-zero in the floating-point mode", ...
std::vector<std::string> changes(const ProcessState& before, const ProcessState& after);
// A sentence about changed variables: "it sets FOO in the environment"; "" when nothing changed.
std::string environment_changes(const ProcessState& before, const ProcessState& after);

// Open descriptors, to detect a module that closes descriptors which are not its own.
class Sentinels {
 public:
  Sentinels();
  bool are_open() const;

 private:
  std::array<int, 3> descriptors_{};
};

// The number of threads of this process; 0 where it is not available.
std::size_t thread_count();

}  // namespace ferrule::probe
