// Names of files as text in UTF-8, on every system. On Windows std::filesystem's string() and its constructor from char
// use the system's code page, which does not have every name.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#if defined(_WIN32)
#include "windows/text.h"
#endif

namespace ferrule {

#if defined(_WIN32)
// An invalid character becomes U+FFFD; u8string() would throw.
inline std::string path_to_text(const std::filesystem::path& path) { return windows::to_utf8(path.native()); }
inline std::filesystem::path path_from_text(std::string_view text) { return windows::to_wide(text); }
#else
// These are the bytes of the name, whatever they are.
inline std::string path_to_text(const std::filesystem::path& path) { return path.string(); }
inline std::filesystem::path path_from_text(std::string_view text) { return std::filesystem::path(text); }
#endif

}  // namespace ferrule
