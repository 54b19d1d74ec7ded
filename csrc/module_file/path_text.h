// Names of files as text in UTF-8, on every system. On Windows std::filesystem's string() and its constructor from char
// use the system's code page, which does not have every name.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace ferrule {

// Elsewhere than on Windows these are the bytes of the name, whatever they are.
inline std::string path_to_text(const std::filesystem::path& path) {
  const std::u8string text = path.u8string();
  return std::string(text.begin(), text.end());
}

inline std::filesystem::path path_from_text(std::string_view text) {
  return std::filesystem::path(std::u8string(text.begin(), text.end()));
}

}  // namespace ferrule
