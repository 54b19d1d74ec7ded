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

// Ends all of them and waits for them. Returns those that could not be ended within the time.
std::vector<Process> end_descendants(double seconds);

}  // namespace ferrule::probe
