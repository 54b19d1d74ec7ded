#include "core/environment.h"

#include "module_file/path_text.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#if defined(__APPLE__)
#include <crt_externs.h>
#include <unistd.h>
#elif defined(_WIN32)
#include <windows.h>
#else
#include <unistd.h>
#if !defined(__GLIBC__)  // glibc declares it in unistd.h
extern char** environ;
#endif
#endif
#if defined(__linux__)
#include <sys/auxv.h>
#endif

namespace ferrule {
namespace {

std::vector<std::string> split(std::string_view text, std::string_view separators) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = text.find_first_of(separators);
    if (end != 0) parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return parts;
}

#if defined(_WIN32)
constexpr std::string_view path_separator = ";";

// Windows takes "Path" and "PATH" for one variable.
std::string comparable_name(std::string_view name) { return upper_case(name); }

std::optional<std::string> system_value(const char* name) {
  const std::wstring wide_name = path_from_text(name).native();
  std::wstring value(256, L'\0');
  for (;;) {
    const DWORD size = GetEnvironmentVariableW(wide_name.c_str(), value.data(), static_cast<DWORD>(value.size()));
    if (size == 0) return std::nullopt;
    const bool fits = size < value.size();
    value.resize(size);
    if (fits) return path_to_text(value);
  }
}

std::vector<std::string> all_entries() {
  std::vector<std::string> entries;
  wchar_t* const block = GetEnvironmentStringsW();
  if (block == nullptr) return entries;
  for (const wchar_t* entry = block; *entry != L'\0'; entry += std::wcslen(entry) + 1)
    entries.push_back(path_to_text(entry));
  FreeEnvironmentStringsW(block);
  return entries;
}
#else
constexpr std::string_view path_separator = ":";

std::string comparable_name(std::string_view name) { return std::string(name); }

// Null for the system's environment.
constinit thread_local char* const* thread_environment = nullptr;

// std::getenv for a given block.
const char* value_in(char* const* block, std::string_view name) {
  for (; *block != nullptr; ++block)
    if (std::strncmp(*block, name.data(), name.size()) == 0 && (*block)[name.size()] == '=')
      return *block + name.size() + 1;
  return nullptr;
}

std::optional<std::string> system_value(const char* name) {
  const char* value = thread_environment ? value_in(thread_environment, name) : std::getenv(name);
  return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

std::vector<std::string> all_entries() {
  std::vector<std::string> entries;
  for (char* const* place = environment_block(); place != nullptr && *place != nullptr; ++place)
    entries.emplace_back(*place);
  return entries;
}
#endif

// ASCII only, independent of the process's locale: all of ferrule's names are ASCII.
template <char first, char last, int distance>
std::string shift_letters(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= first && c <= last) c = static_cast<char>(c + distance);
  return out;
}

}  // namespace

bool has_more_rights_than_its_caller() noexcept {
#if defined(_WIN32)
  return false;
#elif defined(__linux__)
  return getauxval(AT_SECURE) != 0;
#elif defined(__APPLE__) || defined(__FreeBSD__) || defined(__NetBSD__) || defined(__OpenBSD__)
  return issetugid() != 0;
#else
  return getuid() != geteuid() || getgid() != getegid();
#endif
}

std::optional<std::string> environment(const char* name) {
  if (has_more_rights_than_its_caller()) return std::nullopt;
  std::optional<std::string> value = system_value(name);
  return value && !value->empty() ? value : std::nullopt;
}

std::filesystem::path environment_path(const char* name) { return path_from_text(environment(name).value_or("")); }

std::vector<std::filesystem::path> environment_paths(const char* name) {
  std::vector<std::filesystem::path> paths;
  for (const std::string& text : split(environment(name).value_or(""), path_separator))
    paths.push_back(path_from_text(text));
  return paths;
}

std::vector<std::string> environment_names(const char* name) {
  return split(lower_case(environment(name).value_or("")), ", \t");
}

std::string lower_case(std::string_view text) { return shift_letters<'A', 'Z', 'a' - 'A'>(text); }

std::string upper_case(std::string_view text) { return shift_letters<'a', 'z', 'A' - 'a'>(text); }

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text += separator;
    text += part;
  }
  return text;
}

std::vector<std::string> environment_entries(const std::vector<std::string>& names) {
  std::vector<std::string> entries;
  for (std::string& entry : all_entries()) {
    const std::string name = comparable_name(std::string_view(entry).substr(0, entry.find('=')));
    const auto matches = [&](const std::string& given) {
      const std::string whole = comparable_name(given);
      std::string_view wanted = whole;
      if (!wanted.ends_with('*')) return name == wanted;
      wanted.remove_suffix(1);
      if (!wanted.starts_with('*')) return name.starts_with(wanted);
      return name.find(wanted.substr(1)) != std::string_view::npos;
    };
    if (std::any_of(names.begin(), names.end(), matches)) entries.push_back(std::move(entry));
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

#if !defined(_WIN32)
void set_thread_environment(char* const* block) noexcept { thread_environment = block; }

char* const* environment_block() noexcept {
  if (thread_environment) return thread_environment;
#if defined(__APPLE__)
  return *_NSGetEnviron();
#else
  return environ;
#endif
}
#endif

}  // namespace ferrule
