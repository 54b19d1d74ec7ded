// Lists the entries of folders, and resolves the real paths of many files in few folders.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <system_error>

namespace ferrule {

// Calls `visit` with the path of each entry, in no particular order, until it returns false. Returns the error of a
// folder that cannot be read. Throws bad_alloc; libstdc++'s directory_iterator would terminate the process instead,
// because its increment allocates memory and is noexcept in all its forms.
std::error_code visit_entries(const std::filesystem::path& folder,
                              const std::function<bool(const std::filesystem::path& path)>& visit);

// Resolves real paths. Each folder is resolved once and each file every time, so use one object per load.
class RealPaths {
 public:
  // Returns what std::filesystem::canonical returns.
  std::filesystem::path of(const std::filesystem::path& path, std::error_code& problem);

 private:
  std::map<std::filesystem::path::string_type, std::filesystem::path> folders_;
};

}  // namespace ferrule
