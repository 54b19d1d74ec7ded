// Finds and ends all descendants of this process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace ferrule::probe {

// Makes orphaned descendants children of this process instead of init. Linux only; does nothing elsewhere.
void adopt_orphans();

struct Process {
  pid_t id = 0;
  std::string name;
};
// All living descendants, without zombies. Empty without /proc.
std::vector<Process> descendants();
// The sum of their resident memory; 0 where it is not available.
uint64_t resident_bytes(const std::vector<Process>& processes);

struct Remains {
  std::vector<std::string> names;  // names of the processes that were killed, each once
  std::vector<Process> living;     // processes that did not end in time
};
// Kills all descendants and waits for them, at most `seconds`.
Remains end_descendants(double seconds);

}  // namespace ferrule::probe
