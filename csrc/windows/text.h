// UTF-8, which all text of ferrule is, and the wide text of Windows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ferrule::windows {

std::wstring to_wide(std::string_view text);
std::string to_utf8(std::wstring_view text);

// The system's sentence about an error code of it, without the full stop: "The system cannot find the file specified".
std::string error_text(unsigned long code);
// error_text() of GetLastError().
std::string last_error_text();

// The arguments of this program, without its name. The arguments of main() are in the system's code page, which does
// not have every character.
std::vector<std::string> program_arguments();

}  // namespace ferrule::windows
