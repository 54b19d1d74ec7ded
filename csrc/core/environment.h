// Environment variables. An empty variable is unset; in a program that has more rights than its caller, all are.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ferrule {

// Whether this program was started with rights that its caller lacks (setuid, setgid, file capabilities): the
// environment is the caller's, and must not decide which files are opened.
bool has_more_rights_than_its_caller() noexcept;
std::optional<std::string> environment(const char* name);
// Makes this thread read its variables in `block`, which looks like environment_block()'s and is not copied; null: in
// the system's environment again, which cannot be read while another thread writes to it.
void set_thread_environment(char* const* block) noexcept;
// All of it, as the system keeps it: "NAME=value", and a null behind the last. Null when there is none. Not for
// reading variables: it is the caller's, whatever rights this program has.
char* const* environment_block() noexcept;
// The entries "NAME=value" of environment_block() whose name is one of these, or begins like one that ends with "*"
// ("VK_*"); sorted. For keys: not for reading variables.
std::vector<std::string> environment_entries(const std::vector<std::string>& names);
// The parts of a list of paths (":" between them, ";" on Windows), without empty ones.
std::vector<std::string> environment_paths(const char* name);
// The parts of a list of names, with commas or spaces between them, in lower case.
std::vector<std::string> environment_names(const char* name);

std::string lower_case(std::string_view text);
std::string upper_case(std::string_view text);
// "a, b, c"
std::string joined(const std::vector<std::string>& parts, std::string_view separator = ", ");

}  // namespace ferrule
