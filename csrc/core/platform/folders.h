// Entries of folders, and real paths of many files in few folders.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <system_error>

namespace ferrule {

// Calls `visit` with the path of each entry, in no order, until it returns false. A folder that cannot be read is told
// of in the error code. Throws bad_alloc, where libstdc++'s directory_iterator ends the process: its increment is
// noexcept, in all of its forms, and takes memory for each name.
std::error_code visit_entries(const std::filesystem::path& folder,
                              const std::function<bool(const std::filesystem::path& path)>& visit);

// Follows the links on the way to a folder once, those of a file each time: an object serves one load.
class RealPaths {
 public:
  // As std::filesystem::canonical.
  std::filesystem::path of(const std::filesystem::path& path, std::error_code& problem);

 private:
  std::map<std::filesystem::path::string_type, std::filesystem::path> folders_;
};

}  // namespace ferrule
