// On Windows the folder is in the user's profile, whose access list keeps other users out; owners are not checked.
#include "core/cache/private_folder.h"
#include "module_file/path_text.h"

#if defined(_WIN32)
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

namespace ferrule {

namespace fs = std::filesystem;

std::optional<PrivateFolder> PrivateFolder::open(const fs::path& path, std::string& problem) {
  std::error_code error;
  if (fs::is_directory(fs::symlink_status(path, error))) return PrivateFolder(path);
  problem = "it is not a folder";
  return std::nullopt;
}

void PrivateFolder::create(const fs::path& path, std::string& problem) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) problem = "it cannot be made: " + error.message();
}

PrivateFolder::PrivateFolder(PrivateFolder&& other) noexcept : path_(std::move(other.path_)) {}

PrivateFolder::~PrivateFolder() = default;

std::optional<std::string> PrivateFolder::read(const std::string& name, std::size_t limit) const {
  std::error_code error;
  const fs::path path = path_ / name;
  if (!fs::is_regular_file(fs::symlink_status(path, error)) || fs::file_size(path, error) > limit || error)
    return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file || !text || text.str().size() > limit) return std::nullopt;
  return text.str();
}

bool PrivateFolder::write(const std::string& name, const std::string& unfinished, std::string_view text) const {
  std::ofstream file(path_ / unfinished, std::ios::binary | std::ios::trunc);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  std::error_code error;
  if (file) fs::rename(path_ / unfinished, path_ / name, error);
  if (file && !error) return true;
  remove(unfinished);
  return false;
}

void PrivateFolder::remove(const std::string& name) const {
  std::error_code error;
  fs::remove(path_ / name, error);
}

std::vector<std::string> PrivateFolder::names() const {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(path_, error), end; !error && it != end; it.increment(error))
    names.push_back(path_to_text(it->path().filename()));
  return names;
}

std::optional<std::chrono::system_clock::time_point> PrivateFolder::written_at(const std::string& name) const {
  std::error_code error;
  const fs::file_time_type time = fs::last_write_time(path_ / name, error);
  if (error) return std::nullopt;
  const auto age = fs::file_time_type::clock::now() - time;
  return std::chrono::system_clock::now() - std::chrono::duration_cast<std::chrono::system_clock::duration>(age);
}

}  // namespace ferrule
#endif
