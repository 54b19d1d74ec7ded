// What signals are called, and what they tell of the process that they end.
#pragma once

#include <string>

namespace ferrule::probe {

std::string name_of_signal(int signal);  // "SIGSEGV", or "signal 42"
// For what a process ended by: with what it means, where that says more than the name.
std::string describe_signal(int signal);
// Whether it is one that others send, above all a system without memory: no fault of the process that it ends.
bool comes_from_outside(int signal);

}  // namespace ferrule::probe
