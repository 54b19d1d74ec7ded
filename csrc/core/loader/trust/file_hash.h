// Hashes of files, computed once for each content.
#pragma once

#include "module_file/file_bytes.h"

#include <filesystem>
#include <optional>
#include <string>

namespace ferrule {

// The SHA-256 of an open file in hexadecimal digits; nothing when it cannot be read, or changes meanwhile. What was
// found out is kept, for this process and the next, under the path, the file's numbers, its size and its times.
std::optional<std::string> hash_of(module_file::FileBytes& file, const std::filesystem::path& path);

}  // namespace ferrule
