// What a module, its manifest or the system's loader says, as a part of a report.
#pragma once

#include <string>

namespace ferrule {

// In one line and of bounded length, whoever wrote it: a megabyte is no reason, and no escape sequence reaches a
// terminal.
std::string as_sentence(std::string text);

}  // namespace ferrule
