// A folder of small files that only this user can write; other folders are not used. No function throws because of the
// state of the file system, and none blocks on special files.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ferrule {

class PrivateFolder {
 public:
  // Opens a folder. Returns nullopt, with a sentence in `problem`, when it does not exist, is a link, belongs to
  // another user, or when others can write it or a folder above it.
  static std::optional<PrivateFolder> open(const std::filesystem::path& path, std::string& problem);
  // Creates the folder and missing folders above it for this user only. `problem` says why that failed.
  static void create(const std::filesystem::path& path, std::string& problem);

  PrivateFolder(PrivateFolder&& other) noexcept;
  PrivateFolder& operator=(PrivateFolder&&) = delete;
  ~PrivateFolder();

  // Reads a whole file. nullopt when it is larger than the limit, or not a regular file that only this user can write.
  std::optional<std::string> read(const std::string& name, std::size_t limit) const;
  // Replaces the file atomically: concurrent readers see the old text or the new one. `unfinished` is the name of the
  // temporary file, which must be unique. Returns false and leaves no file behind when it cannot be written.
  bool write(const std::string& name, const std::string& unfinished, std::string_view text) const;
  void remove(const std::string& name) const;
  std::vector<std::string> names() const;
  // The time of the file's last write; nullopt when it is gone.
  std::optional<std::chrono::system_clock::time_point> written_at(const std::string& name) const;

 private:
#if defined(_WIN32)
  explicit PrivateFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
#else
  explicit PrivateFolder(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
#endif
};

}  // namespace ferrule
