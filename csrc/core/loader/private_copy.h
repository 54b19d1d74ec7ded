// A copy of a module's file, for loading it under a second name: the system's loader maps a file only once, and two
// backends on one mapping would share their static variables.
#pragma once

#include "module_file/file_bytes.h"

#include <filesystem>
#include <optional>
#include <string>

namespace ferrule {

class PrivateCopy {
 public:
  // Copies the file to a new folder below TMPDIR or /tmp that only this user can write, under the name `name`. Throws
  // io; unsupported on Windows, where a mapped file cannot be removed.
  PrivateCopy(module_file::FileBytes& file, const std::filesystem::path& name);
  // Removes the copy. Existing mappings stay valid.
  ~PrivateCopy();
  PrivateCopy(const PrivateCopy&) = delete;
  PrivateCopy& operator=(const PrivateCopy&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }
  module_file::FileBytes& file() noexcept { return *file_; }

 private:
  std::filesystem::path folder_, path_;
  std::optional<module_file::FileBytes> file_;
};

}  // namespace ferrule
