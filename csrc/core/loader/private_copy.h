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
  // Whether the copy cannot be removed while it is mapped, as on Windows.
#if defined(_WIN32)
  static constexpr bool is_needed_while_mapped = true;
#else
  static constexpr bool is_needed_while_mapped = false;
#endif

  // Copies the file to a new folder below the one for temporary files (TMPDIR or /tmp, on Windows TEMP) that only this
  // user can write, under the name `name`. Throws io.
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
