#include "core/cache/private_folder.h"

#if defined(_WIN32)
#include "core/platform/files/file_writers.h"
#include "module_file/path_text.h"
#include "windows/file.h"

#include <windows.h>

#include <fstream>
#include <system_error>
#include <utility>

namespace ferrule {
namespace {

namespace fs = std::filesystem;

// Windows neither opens a file that another process is replacing, nor replaces one that another process reads. Both
// take a moment only. `step` returns whether it succeeded, and otherwise sets the system's error.
template <class Step>
bool repeat_while_in_use(Step step) {
  constexpr int most = 20;
  for (int i = 0;; ++i) {
    if (step()) return true;
    const DWORD problem = GetLastError();
    if (i == most || (problem != ERROR_SHARING_VIOLATION && problem != ERROR_ACCESS_DENIED)) return false;
    Sleep(1);
  }
}

// A sentence when somebody else can write the folder, or replace it or a folder above it, else "".
std::string complaint_about(const fs::path& path) {
  std::error_code error;
  const fs::path folder = fs::canonical(path, error);
  return error ? "its location is unknown: " + error.message() : complaint_about_folders(folder, WriterOf::folder);
}

}  // namespace

std::optional<PrivateFolder> PrivateFolder::open(const fs::path& path, std::string& problem) {
  const DWORD attributes = GetFileAttributesW(windows::long_path(path.native()).c_str());
  if (attributes == INVALID_FILE_ATTRIBUTES || (attributes & FILE_ATTRIBUTE_DIRECTORY) == 0 ||
      (attributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0) {
    problem = "it is not a folder";
    return std::nullopt;
  }
  problem = complaint_about(path);
  return problem.empty() ? std::optional(PrivateFolder(path)) : std::nullopt;
}

void PrivateFolder::create(const fs::path& path, std::string& problem) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) {
    problem = "it cannot be made: " + error.message();
  } else if (!fs::exists(path, error)) {
    const std::string why = windows::make_private_folder(path.native());
    if (!why.empty() && !fs::is_directory(path, error))  // another process may have made it meanwhile
      problem = "it cannot be made: " + why;
  }
}

PrivateFolder::PrivateFolder(PrivateFolder&& other) noexcept : path_(std::move(other.path_)) {}

PrivateFolder::~PrivateFolder() = default;

std::optional<std::string> PrivateFolder::read(const std::string& name, std::size_t limit) const {
  std::error_code error;
  const fs::path path = path_ / name;
  if (!fs::is_regular_file(fs::symlink_status(path, error))) return std::nullopt;
  const std::wstring long_name = windows::long_path(path.native());
  windows::Handle file;
  const bool is_open = repeat_while_in_use([&] {
    file = windows::Handle(CreateFileW(long_name.c_str(), GENERIC_READ,
                                       FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr, OPEN_EXISTING,
                                       FILE_FLAG_OPEN_REPARSE_POINT, nullptr));
    return static_cast<bool>(file);
  });
  const auto status = windows::status_of(file);
  if (!is_open || !status || status->size > limit) return std::nullopt;
  std::string text(static_cast<std::size_t>(status->size), '\0');
  for (std::size_t filled = 0; filled < text.size();) {
    const int64_t count = windows::read_at(file, filled, text.data() + filled, text.size() - filled);
    if (count <= 0) return std::nullopt;
    filled += static_cast<std::size_t>(count);
  }
  return text;
}

bool PrivateFolder::write(const std::string& name, const std::string& unfinished, std::string_view text) const {
  std::ofstream file(path_ / unfinished, std::ios::binary | std::ios::trunc);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  const std::wstring from = windows::long_path((path_ / unfinished).native()),
                     to = windows::long_path((path_ / name).native());
  if (file &&
      repeat_while_in_use([&] { return MoveFileExW(from.c_str(), to.c_str(), MOVEFILE_REPLACE_EXISTING) != 0; }))
    return true;
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
