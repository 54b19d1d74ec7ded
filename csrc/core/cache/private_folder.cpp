#include "core/cache/private_folder.h"

#if !defined(_WIN32)
#include "core/platform/files/file_writers.h"
#include "module_file/path_text.h"

#include <fmt/format.h>

#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace ferrule {
namespace {

std::string last_error() { return std::generic_category().message(errno); }

// A descriptor, or -1, that is closed on destruction.
class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return value_; }
  int release() { return std::exchange(value_, -1); }

 private:
  int value_;
};

// A sentence when the file is not the effective user's alone, else "". Files of root are refused, too.
std::string complaint_about(const struct stat& status) {
  if (status.st_uid != geteuid()) return fmt::format("it belongs to uid {}, not to uid {}", status.st_uid, geteuid());
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return fmt::format("others can write it (mode {:o})", status.st_mode & 07777);
  return "";
}

// A user who can write a folder above could replace the cache folder. Sticky folders, such as /tmp, prevent this.
std::string complaint_about_folders_above(const std::filesystem::path& path) {
  std::error_code trouble;
  const std::filesystem::path folder = std::filesystem::canonical(path, trouble);
  if (trouble) return "its location is unknown: " + trouble.message();
  return folder == folder.parent_path() ? "" : complaint_about_folders(folder.parent_path(), WriterOf::folder_above);
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(file, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace

std::optional<PrivateFolder> PrivateFolder::open(const std::filesystem::path& path, std::string& problem) {
  Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (folder.get() < 0 || fstat(folder.get(), &status) != 0) {
    problem = "it cannot be opened: " + last_error();
    return std::nullopt;
  }
  problem = complaint_about(status);
  if (problem.empty()) problem = complaint_about_folders_above(path);
  if (!problem.empty()) return std::nullopt;
  return PrivateFolder(folder.release());
}

void PrivateFolder::create(const std::filesystem::path& path, std::string& problem) {
  std::filesystem::path made, above;
  for (const std::filesystem::path& part : path) {
    above = std::exchange(made, made / part);
    struct stat status {};
    if (stat(made.c_str(), &status) == 0) continue;
    // Root with the home of another user (sudo) would create a folder there that the user cannot write.
    if (geteuid() == 0 && stat(above.c_str(), &status) == 0 && status.st_uid != 0) {
      problem = fmt::format("{} is not made for root in a folder of uid {}", path_to_text(made), status.st_uid);
      return;
    }
    if (mkdir(made.c_str(), 0700) == 0 || errno == EEXIST) continue;
    problem = fmt::format("{} cannot be made: {}", path_to_text(made), last_error());
    return;
  }
}

PrivateFolder::PrivateFolder(PrivateFolder&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

PrivateFolder::~PrivateFolder() {
  if (descriptor_ >= 0) close(descriptor_);
}

std::optional<std::string> PrivateFolder::read(const std::string& name, std::size_t limit) const {
  // O_NONBLOCK avoids waiting for a writer if the path is a pipe.
  const Descriptor file(openat(descriptor_, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (file.get() < 0 || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  if (!complaint_about(status).empty() || static_cast<uintmax_t>(status.st_size) > limit) return std::nullopt;
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t filled = 0;
  while (filled < text.size()) {
    const ssize_t count = ::read(file.get(), text.data() + filled, text.size() - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return std::nullopt;
    filled += static_cast<std::size_t>(count);
  }
  return text;
}

bool PrivateFolder::write(const std::string& name, const std::string& unfinished, std::string_view text) const {
  Descriptor file(openat(descriptor_, unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (file.get() < 0) return false;
  // A full disk may be reported only by close().
  const bool is_whole = write_all(file.get(), text) && close(file.release()) == 0;
  if (is_whole && renameat(descriptor_, unfinished.c_str(), descriptor_, name.c_str()) == 0) return true;
  const int reason = errno;
  remove(unfinished);
  errno = reason;
  return false;
}

void PrivateFolder::remove(const std::string& name) const { unlinkat(descriptor_, name.c_str(), 0); }

std::vector<std::string> PrivateFolder::names() const {
  std::vector<std::string> names;
  Descriptor copy(openat(descriptor_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const auto close_folder = [](DIR* folder) { closedir(folder); };
  const std::unique_ptr<DIR, decltype(close_folder)> folder(copy.get() < 0 ? nullptr : fdopendir(copy.get()));
  if (folder == nullptr) return names;
  copy.release();
  while (const dirent* entry = readdir(folder.get())) names.emplace_back(entry->d_name);
  return names;
}

std::optional<std::chrono::system_clock::time_point> PrivateFolder::written_at(const std::string& name) const {
  struct stat status {};
  if (fstatat(descriptor_, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
#if defined(__APPLE__)
  const timespec time = status.st_mtimespec;
#else
  const timespec time = status.st_mtim;
#endif
  const auto since_epoch = std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  return std::chrono::system_clock::time_point(
      std::chrono::duration_cast<std::chrono::system_clock::duration>(since_epoch));
}

}  // namespace ferrule
#endif
