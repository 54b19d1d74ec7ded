// The names of signals.
#pragma once

#include <string>

namespace ferrule::probe {

std::string name_of_signal(int signal);  // "SIGSEGV", or "signal 42"
// For what a process ended by: with what it means, where that says more than the name.
std::string describe_signal(int signal);

}  // namespace ferrule::probe
