// What Metal's compiler refuses, and the generation of code would take: other address spaces, and recursion.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace emulation::metal {

// Both return the message of the first thing to refuse; empty if there is none. `command` is the compiler with the
// options of the language.

// `file` has the text with FERRULE_STRICT in front (msl/ferrule/language.h).
std::string refusal_of_address_spaces(std::vector<std::string> command, const std::string& file);
// `file` has the text as it is compiled.
std::string refusal_of_recursion(std::vector<std::string> command, const std::string& file);

// Of the compiler's log with the strict address spaces: those messages that Metal's compiler has, too. C++ for OpenCL
// without the generic address space also refuses copies of structures, which Metal makes.
std::string refusals_in_log(std::string_view log);

// Of a text in LLVM's language: the name and the line of a function that calls itself, by way of others or not.
std::string recursion_in(std::string_view code);

}  // namespace emulation::metal
