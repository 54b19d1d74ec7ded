// Hashes of files, computed once for each content.
#pragma once

#include "core/registry/backend.h"

#include <filesystem>
#include <optional>
#include <string>

namespace ferrule {

// The SHA-256 of the file in hexadecimal digits; nothing when it cannot be read. `identity` is what lies there.
std::optional<std::string> hash_of(const std::filesystem::path& path, const FileIdentity& identity);

}  // namespace ferrule
