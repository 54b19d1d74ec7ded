// Warnings that are logged once per process, such as those about environment variables, which are read again and again.
#pragma once

#include <string>
#include <string_view>

namespace ferrule {

void warn_once(std::string sentence);
// Warns of a variable whose value is not what it must be, with what is taken instead: "FERRULE_THREADS is 'x', and must
// be a number from 1 to 1024; using 8".
void warn_of_variable(std::string_view name, std::string_view value, std::string_view need, std::string_view taken);

}  // namespace ferrule
