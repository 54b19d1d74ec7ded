// Environment variables. An empty variable counts as unset. In a program with more rights than its caller, all do.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ferrule {

// Whether this program was started with rights that its caller lacks (setuid, setgid, file capabilities). The caller
// controls the environment, so it must not decide which files such a program opens.
bool has_more_rights_than_its_caller() noexcept;
std::optional<std::string> environment(const char* name);
// The variable as a path; empty when it is unset.
std::filesystem::path environment_path(const char* name);
#if !defined(_WIN32)
// Makes this thread read variables from `block`, which has the form of environment_block() and is not copied. Null
// restores the system's environment, which must not be read while another thread writes to it.
void set_thread_environment(char* const* block) noexcept;
// The whole environment: strings "NAME=value", ended by a null. Null when there is none. Use environment() to read
// variables: this function does not check has_more_rights_than_its_caller().
char* const* environment_block() noexcept;
#endif
// The entries "NAME=value" of the environment whose name is in `names`, sorted. A name ending with "*" ("VK_*")
// matches all names with that prefix, and "*GPU*" all that contain the word. For keys only; use environment() to read
// variables.
std::vector<std::string> environment_entries(const std::vector<std::string>& names);
// The parts of a list of paths, separated by ":" (";" on Windows), without empty ones.
std::vector<std::filesystem::path> environment_paths(const char* name);
// The parts of a list of names, separated by commas or spaces, in lower case.
std::vector<std::string> environment_names(const char* name);

std::string lower_case(std::string_view text);
std::string upper_case(std::string_view text);
// "a, b, c"
std::string joined(const std::vector<std::string>& parts, std::string_view separator = ", ");

}  // namespace ferrule
