// Advice for users when macOS refuses to open a library because of its signature.
#pragma once

#include <string>
#include <string_view>

namespace ferrule {

// A sentence to be put behind dlopen's message, beginning with a space; empty if the message is about something else.
// It is compiled on every system, so that it can be tested on each.
std::string signature_advice(std::string_view message);

}  // namespace ferrule
