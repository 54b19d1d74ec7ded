// Finds errors that Metal's compiler reports and clang's code generation does not: wrong address spaces, and recursion.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace emulation::metal {

// The options of clang for the strict address spaces.
std::vector<std::string> options_of_strict_checks();
// The message of the first thing to refuse in the file; empty if there is none. `command` is the compiler with the
// options of the language, the strict checks and the compiled headers.
std::string refusal_of_address_spaces(std::vector<std::string> command, const std::string& file);

// Returns the messages in the compiler's log with the strict address spaces that Metal's compiler has, too. C++ for
// OpenCL without the generic address space also refuses copies of structures, which Metal makes.
std::string refusals_in_log(std::string_view log);

// The message for a function that calls itself, by way of others or not, in a text in LLVM's language.
std::string recursion_in(std::string_view code);

}  // namespace emulation::metal
