// A folder of small files that nobody but this user can write. What is not so is not used: no function here throws for
// the state of a file system, and none waits for it.
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
  // Nothing, and `problem` is a sentence about it, when there is none, it is a link, belongs to somebody else, or when
  // others can write it or a folder above it.
  static std::optional<PrivateFolder> open(const std::filesystem::path& path, std::string& problem);
  // Makes it, and those above it that are missing, for this user only. `problem` says why that failed.
  static void create(const std::filesystem::path& path, std::string& problem);

  PrivateFolder(PrivateFolder&& other) noexcept;
  PrivateFolder& operator=(PrivateFolder&&) = delete;
  ~PrivateFolder();

  // The whole file. Nothing when it is larger than the limit, or no regular file of this user's alone.
  std::optional<std::string> read(const std::string& name, std::size_t limit) const;
  // Replaces the file at once: whoever reads meanwhile sees the old text or the new one. `unfinished` is the name that
  // nobody else uses now. False, and nothing is left behind, when it cannot be written.
  bool write(const std::string& name, const std::string& unfinished, std::string_view text) const;
  void remove(const std::string& name) const;
  std::vector<std::string> names() const;
  // When the file was written last; nothing when it is gone.
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
