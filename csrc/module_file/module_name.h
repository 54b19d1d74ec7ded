// Parses the name of a module's file: [lib]ferrule-<name>[-<variant>] and the system's file ending.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ferrule::module_file {

struct ModuleName {
  std::string name;     // [a-z0-9_]+
  std::string variant;  // everything after the first dash
  std::string problem;  // a sentence when the name has the form of a module's but is invalid, else ""
};

inline constexpr std::array<std::string_view, 3> all_module_endings = {".so", ".dylib", ".dll"};
// The endings of this system.
#if defined(_WIN32)
inline constexpr std::array<std::string_view, 1> module_endings = {".dll"};
#elif defined(__APPLE__)
inline constexpr std::array<std::string_view, 2> module_endings = {".dylib", ".so"};
#else
inline constexpr std::array<std::string_view, 1> module_endings = {".so"};
#endif

// Whether the text is a valid name of a backend.
inline bool is_backend_name(std::string_view text) {
  const auto is_allowed = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  return !text.empty() && std::all_of(text.begin(), text.end(), is_allowed);
}

// nullopt when the file name is not that of a module.
inline std::optional<ModuleName> parse_module_name(std::string_view file,
                                                   std::span<const std::string_view> endings = module_endings) {
  const auto is_ending = [&](std::string_view ending) { return file.ends_with(ending); };
  const auto ending = std::find_if(endings.begin(), endings.end(), is_ending);
  if (ending == endings.end()) return std::nullopt;
  std::string_view rest = file.substr(0, file.size() - ending->size());
  if (rest.starts_with("lib")) rest.remove_prefix(3);
  constexpr std::string_view prefix = "ferrule-";
  if (!rest.starts_with(prefix)) return std::nullopt;
  rest.remove_prefix(prefix.size());
  const std::size_t dash = rest.find('-');
  ModuleName out{std::string(rest.substr(0, dash)), "", ""};
  if (dash != std::string_view::npos) out.variant = rest.substr(dash + 1);
  if (!is_backend_name(out.name))
    out.problem = "a backend's name consists of a-z, 0-9 and _, and '" + out.name + "' does not";
  else if (dash != std::string_view::npos && out.variant.empty())
    out.problem = "its name ends with a dash, and a variant would follow it";
  return out;
}

}  // namespace ferrule::module_file
