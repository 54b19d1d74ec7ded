// Names and meanings of signals.
#pragma once

#include <string>

namespace ferrule::probe {

std::string name_of_signal(int signal);  // "SIGSEGV", or "signal 42"
// The name of the signal that ended a process, with its meaning if there is one: "SIGABRT (it called abort)".
std::string describe_signal(int signal);
// Whether the signal is one that other processes or the system send, above all when memory or the disk is full, so that
// it does not show a fault of the process that it ended.
bool comes_from_outside(int signal);

}  // namespace ferrule::probe
