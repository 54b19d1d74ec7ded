// Hashes of files, computed once and cached.
#pragma once

#include "module_file/file_bytes.h"

#include <filesystem>
#include <optional>
#include <string>

namespace ferrule {

// The SHA-256 of an open file in hexadecimal digits; nullopt when it cannot be read or changes meanwhile. Results are
// cached by path, device, inode, size and times: in this process, and for large files on disk.
std::optional<std::string> hash_of(module_file::FileBytes& file, const std::filesystem::path& path);

}  // namespace ferrule
