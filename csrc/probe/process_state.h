// What a library shares with the program that opens it, and must leave as it was.
#pragma once

#include <array>
#include <csignal>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ferrule::probe {

// The state of this process, as far as the calling thread sees it.
struct ProcessState {
  static ProcessState now();

  std::string locale, folder;
  int umask = 0;
  bool keeps_denormals = true;          // as operands and as results
  int rounding = 0;                     // a value of <cfenv>
  int traps = 0;                        // floating-point exceptions that end the program
  std::vector<uint64_t> streams;        // which file each standard stream is
  std::vector<void (*)(int)> handlers;  // by signal
  std::vector<bool> is_blocked;         // by signal
  std::map<std::string, std::string> environment;
};

// "it sets flush-to-zero in the floating-point mode", ...: what is not as it was, without the environment.
std::vector<std::string> changes(const ProcessState& before, const ProcessState& after);
// "it sets FOO in the environment"; "" when nothing changed there.
std::string environment_changes(const ProcessState& before, const ProcessState& after);

// Descriptors that nobody else has a reason to close.
class Sentinels {
 public:
  Sentinels();
  bool are_open() const;

 private:
  std::array<int, 3> descriptors_{};
};

// How many threads this process has; 0 where that cannot be told.
std::size_t thread_count();

}  // namespace ferrule::probe
