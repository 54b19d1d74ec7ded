// What Metal's compiler refuses, and the code generation of the emulator would take.
#pragma once

#include <string>
#include <vector>

namespace emulation::metal {

// Returns the messages about a file; empty if there is nothing to refuse. `command` is the compiler with the options of
// the language.
std::string strict_refusal(const std::vector<std::string>& command, const std::string& file);

}  // namespace emulation::metal
