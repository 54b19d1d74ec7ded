// The processes that came from this one, however they were made.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace ferrule::probe {

// From now on an orphan below this process becomes its child, instead of init's. Linux only; elsewhere it does nothing.
void adopt_orphans();

struct Process {
  pid_t id = 0;
  std::string name;
};
// Those that live below this process, without zombies. Empty where /proc is not there.
std::vector<Process> descendants();
// Their resident memory, together; 0 where it cannot be told.
uint64_t resident_bytes(const std::vector<Process>& processes);

struct Remains {
  std::vector<std::string> names;  // of what had to be ended, each once
  std::vector<Process> living;     // what could not be ended within the time
};
// Ends all of them and waits for them.
Remains end_descendants(double seconds);

}  // namespace ferrule::probe
