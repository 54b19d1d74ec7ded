// Reads the bytes of a file at any offset, never past its end. The file is opened once, so all bytes are those of one
// file even if another is moved to its path meanwhile, which Windows does not let happen; the identity shows which file
// it is.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>

#if defined(_WIN32)
#include "windows/file.h"
#else
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace ferrule::module_file {

// Identifies the contents of a file at some time.
struct FileIdentity {
  uint64_t device = 0, inode = 0, size = 0;
  int64_t modified_ns = 0, changed_ns = 0;  // changed_ns includes changes of mode and owner; programs cannot set it
  friend auto operator<=>(const FileIdentity&, const FileIdentity&) = default;
};

enum class Links { follow, refuse };

class FileBytes {
 public:
  explicit FileBytes(const std::filesystem::path& path, Links links = Links::follow) { open(path, links); }
#if defined(_WIN32)
  FileBytes(FileBytes&&) = default;
  bool is_open() const { return static_cast<bool>(handle_); }
  int descriptor() const { return -1; }
#else
  ~FileBytes() {
    if (descriptor_ >= 0) close_descriptor();
  }
  FileBytes(FileBytes&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_), problem_(std::move(other.problem_)) {}
  bool is_open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }
#endif
  FileBytes& operator=(FileBytes&&) = delete;

  // Why it is not open, as a sentence about the file ("it is a pipe, not a regular file"); "" when it is.
  const std::string& problem() const { return problem_; }
  uint64_t size() const { return size_; }  // the size when it was opened
  bool contains(uint64_t offset, uint64_t count) const { return offset <= size_ && count <= size_ - offset; }

  // Reads `count` bytes; may use the page that was read last, as the file was then. False on failure.
  bool read(uint64_t offset, void* to, std::size_t count) {
    if (!is_open() || !contains(offset, count)) return false;
    if (count == 0) return true;
    if (count > page_.size()) return read_now(offset, to, count);
    if (offset < page_at_ || offset + count > page_at_ + page_.size()) {
      const uint64_t aligned = offset / page_.size() * page_.size();
      const uint64_t begin = offset + count <= aligned + page_.size() ? aligned : offset;
      page_at_ = none;
      if (!read_now(begin, page_.data(), std::min<uint64_t>(page_.size(), size_ - begin))) return false;
      page_at_ = begin;
    }
    std::memcpy(to, page_.data() + (offset - page_at_), count);
    return true;
  }

  // Reads the file as it is now.
  bool read_now(uint64_t offset, void* to, std::size_t count) {
    if (!is_open() || !contains(offset, count)) return false;
    auto* bytes = static_cast<char*>(to);
    while (count > 0) {
      const int64_t part = read_some(offset, bytes, count);
      if (part <= 0) return false;
      bytes += part;
      offset += static_cast<uint64_t>(part);
      count -= static_cast<std::size_t>(part);
    }
    return true;
  }

  // Reads a value in this machine's byte order.
  template <class T>
  std::optional<T> read(uint64_t offset) {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    if (!read(offset, &value, sizeof value)) return std::nullopt;
    return value;
  }

  // Whether `text` and a zero byte are at this offset.
  bool holds_string(uint64_t offset, const std::string& text) {
    std::string found(text.size() + 1, 'x');
    return read(offset, found.data(), found.size()) && found.back() == '\0' && found.compare(0, text.size(), text) == 0;
  }

  // The whole file, as it is now.
  std::optional<std::string> text() {
    std::string all(size_, '\0');
    if (!read_now(0, all.data(), all.size())) return std::nullopt;
    return all;
  }

#if defined(_WIN32)
  static std::optional<FileIdentity> identity_at(const std::filesystem::path& path) {
    return FileBytes(path, Links::refuse).identity();
  }
  std::optional<FileIdentity> identity() const {
    const auto status = windows::status_of(handle_);
    if (!status) return std::nullopt;
    return FileIdentity{status->volume, status->index, status->size, status->modified_ns, status->changed_ns};
  }
#else
  // The identity of the regular file at the path; nullopt when there is none or the path is a link.
  static std::optional<FileIdentity> identity_at(const std::filesystem::path& path) {
    struct stat status {};
    if (lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
    return identity_of(status);
  }
  std::optional<FileIdentity> identity() const {
    struct stat status {};
    if (!is_open() || fstat(descriptor_, &status) != 0) return std::nullopt;
    return identity_of(status);
  }
#endif

 private:
#if defined(_WIN32)
  void open(const std::filesystem::path& path, Links links) {
    handle_ = windows::open_file(path.native(), links == Links::follow, problem_);
    if (const auto status = windows::status_of(handle_)) size_ = status->size;
  }
  int64_t read_some(uint64_t offset, char* to, std::size_t count) const {
    return windows::read_at(handle_, offset, to, count);
  }
#else
  static std::string last_error() { return "it cannot be read: " + std::generic_category().message(errno); }

  static const char* complaint_about(mode_t mode) {
    if (S_ISREG(mode)) return "";
    if (S_ISDIR(mode)) return "it is a folder, not a regular file";
    if (S_ISFIFO(mode)) return "it is a pipe, not a regular file";
    if (S_ISSOCK(mode)) return "it is a socket, not a regular file";
    if (S_ISLNK(mode)) return "it is a link, not a regular file";
    return "it is a device, not a regular file";
  }

  static FileIdentity identity_of(const struct stat& status) {
#if defined(__APPLE__)
    const timespec modified = status.st_mtimespec, changed = status.st_ctimespec;
#else
    const timespec modified = status.st_mtim, changed = status.st_ctim;
#endif
    const auto nanoseconds = [](const timespec& time) { return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec; };
    return {static_cast<uint64_t>(status.st_dev), static_cast<uint64_t>(status.st_ino),
            static_cast<uint64_t>(status.st_size), nanoseconds(modified), nanoseconds(changed)};
  }

  // Checks the file type before opening, since opening a device may have effects, and again after, since the file may
  // have been replaced. O_NONBLOCK avoids waiting for a writer if it was replaced by a pipe.
  void open(const std::filesystem::path& path, Links links) {
    struct stat status {};
    const bool follow = links == Links::follow;
    if ((follow ? stat(path.c_str(), &status) : lstat(path.c_str(), &status)) != 0) {
      problem_ = last_error();
      return;
    }
    problem_ = complaint_about(status.st_mode);
    if (!problem_.empty()) return;
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | (follow ? 0 : O_NOFOLLOW));
    if (descriptor_ < 0 || fstat(descriptor_, &status) != 0)
      problem_ = last_error();
    else
      problem_ = complaint_about(status.st_mode);
    size_ = static_cast<uint64_t>(status.st_size);
    if (problem_.empty() || descriptor_ < 0) return;
    close_descriptor();
    descriptor_ = -1;
  }
  void close_descriptor() const { ::close(descriptor_); }
  int64_t read_some(uint64_t offset, char* to, std::size_t count) const {
    ssize_t part;
    do part = pread(descriptor_, to, count, static_cast<off_t>(offset));
    while (part < 0 && errno == EINTR);
    return part;
  }
#endif

  static constexpr uint64_t none = UINT64_MAX;

#if defined(_WIN32)
  windows::Handle handle_;
#else
  int descriptor_ = -1;
#endif
  uint64_t size_ = 0;
  // The part that was read last: parsing the tables of a file reads a few bytes here and there.
  std::array<char, 4096> page_{};
  uint64_t page_at_ = none;
  std::string problem_;
};

}  // namespace ferrule::module_file
