// Where paths lead, for many files in few folders.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <system_error>

namespace ferrule {

// For one load: the links on the way to a folder are followed once, those of a file each time.
class RealPaths {
 public:
  // As std::filesystem::canonical.
  std::filesystem::path of(const std::filesystem::path& path, std::error_code& problem);

 private:
  std::map<std::filesystem::path::string_type, std::filesystem::path> folders_;
};

}  // namespace ferrule
