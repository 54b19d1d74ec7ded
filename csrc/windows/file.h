// Files of any path, read at any offset.
#pragma once

#include "windows/handle.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace ferrule::windows {

// The path for calls of the system, also when it is longer than 260 characters. Relative ones stay as they are.
std::wstring long_path(const std::wstring& path);

// Opens a regular file, so that nobody can write, replace or remove it until the handle is closed; `problem` says why
// that failed, as a sentence about the file. A link is refused unless it is followed.
Handle open_file(const std::wstring& path, bool follows_links, std::string& problem);

struct FileStatus {
  uint64_t volume, index;  // identify the file while it exists
  uint64_t size;
  int64_t modified_ns, changed_ns;  // since 1970; changed_ns includes changes of attributes and of the access list
};
std::optional<FileStatus> status_of(const Handle& file);

// Makes a folder that only this user, the system and the administrators can read and write, whatever the folder above
// allows. Returns why that failed, or "".
std::string make_private_folder(const std::wstring& path);

// Bytes that were read; 0 at the end of the file, negative on failure.
int64_t read_at(const Handle& file, uint64_t offset, void* to, std::size_t count);

}  // namespace ferrule::windows
