#include "core/platform/drivers/driver_version.h"

#include "core/platform/libraries/library_search.h"
#include "module_file/path_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <system_error>

namespace ferrule {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_version_file = 1024;  // bytes that are read of the file

// Reads a limited number of bytes of a regular file: files of the kernel have no meaningful size, and reading a pipe
// might never end.
std::string beginning_of(const fs::path& path) {
  std::error_code problem;
  if (!fs::is_regular_file(path, problem)) return "";
  std::ifstream file(path, std::ios::binary);
  std::string text(longest_version_file, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_version(std::string_view text) {
  return !text.empty() && is_digit(text.front()) &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_digit(c) || c == '.'; });
}

// The first word of a text that looks like a version.
std::optional<std::string> version_in(std::string_view text) {
  constexpr std::string_view blanks(" \t\r\n\0", 5);
  while (!text.empty()) {
    const std::size_t end = text.find_first_of(blanks);
    if (const std::string_view word = text.substr(0, end); is_version(word)) return std::string(word);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return std::nullopt;
}

// Removes the first number from a version and returns it without leading zeros, so that a longer number is larger.
std::string_view take_number(std::string_view& version) {
  const std::size_t end = version.find('.');
  std::string_view number = version.substr(0, end);
  version.remove_prefix(end == std::string_view::npos ? version.size() : end + 1);
  number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
  return number;
}

}  // namespace

std::string line_about_version_file(const fs::path& path) {
  const std::string text = beginning_of(path);
  return text.empty() ? "" : fmt::format("{} {}\n", path_to_text(path), text);
}

bool is_older(std::string_view version, std::string_view other) {
  while (!version.empty() || !other.empty()) {
    const std::string_view a = take_number(version), b = take_number(other);
    if (a != b) return a.size() != b.size() ? a.size() < b.size() : a < b;
  }
  return false;
}

std::optional<std::string> driver_version(const std::string& library, const std::string& version_file) {
  if (!version_file.empty()) return version_in(beginning_of(version_file));
  const auto path = find_library(library);
  if (!path) return std::nullopt;
  const std::string name = path_to_text(path->filename());
  std::error_code problem;
  const std::string real = path_to_text(fs::canonical(*path, problem).filename());
  const std::size_t end_of_stem = name.find(".so.");
  // A file whose name is the name that programs ask for shows the interface version only.
  if (problem || real == name || end_of_stem == std::string::npos) return std::nullopt;
  const std::string stem = name.substr(0, end_of_stem + 4);
  if (!real.starts_with(stem) || !is_version(std::string_view(real).substr(stem.size()))) return std::nullopt;
  return real.substr(stem.size());
}

}  // namespace ferrule
