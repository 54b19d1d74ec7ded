// A module's file once more, for a process that has opened it under another name: the system's loader maps one file
// once, and two backends on one mapping would share their static variables.
#pragma once

#include "module_file/file_bytes.h"

#include <filesystem>
#include <optional>
#include <string>

namespace ferrule {

class PrivateCopy {
 public:
  // In a folder that nobody else can write, below TMPDIR or /tmp, under the same file name. Throws io; unsupported
  // where a file that is mapped cannot be removed.
  PrivateCopy(module_file::FileBytes& file, const std::filesystem::path& name);
  // Removes it. What is mapped stays mapped.
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
