// The process state that a library shares with the program that opens it, and must not change.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ferrule::probe {

// The state of this process as the calling thread sees it.
struct ProcessState {
  static ProcessState now();

  std::string locale, folder;
  int umask = 0;                    // 0 on Windows
  bool keeps_denormals = true;      // both operands and results
  int rounding = 0;                 // a value of <cfenv>
  int traps = 0;                    // floating-point exceptions that end the program
  std::vector<uint64_t> streams;    // what identifies the file of each standard stream
  std::vector<uintptr_t> handlers;  // addresses, indexed by signal; on Windows that of unhandled exceptions
  std::vector<bool> is_blocked;     // indexed by signal; empty on Windows
  std::map<std::string, std::string> environment;
};

// The name of the event of handlers[index]: "SIGINT", "unhandled exceptions".
std::string name_of_handler(std::size_t index);

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
  std::array<intptr_t, 3> descriptors_{};  // handles on Windows
};

// Whether results and operands of computations are as small as they should be, and not 0.
bool denormals_are_kept();

// The number of threads of this process; 0 where it is not available.
std::size_t thread_count();

}  // namespace ferrule::probe
