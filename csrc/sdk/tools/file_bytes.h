// The bytes of a file, read where they are asked for, and never past its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <type_traits>

namespace ferrule::tools {

class FileBytes {
 public:
  explicit FileBytes(const std::filesystem::path& path) : stream_(path, std::ios::binary | std::ios::ate) {
    if (stream_) size_ = static_cast<uint64_t>(static_cast<std::streamoff>(stream_.tellg()));
  }

  bool is_open() const { return stream_.is_open() && !stream_.bad(); }
  uint64_t size() const { return size_; }
  bool contains(uint64_t offset, uint64_t count) const { return offset <= size_ && count <= size_ - offset; }

  bool read(uint64_t offset, void* to, std::size_t count) {
    if (!contains(offset, count)) return false;
    stream_.clear();
    stream_.seekg(static_cast<std::streamoff>(offset));
    stream_.read(static_cast<char*>(to), static_cast<std::streamsize>(count));
    return static_cast<std::size_t>(stream_.gcount()) == count;
  }

  // A number as it lies in the file, in this machine's byte order.
  template <class T>
  std::optional<T> read(uint64_t offset) {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    if (!read(offset, &value, sizeof value)) return std::nullopt;
    return value;
  }

  // True when `text` and a zero byte lie there.
  bool holds_string(uint64_t offset, const std::string& text) {
    std::string found(text.size() + 1, 'x');
    return read(offset, found.data(), found.size()) && found.back() == '\0' && found.compare(0, text.size(), text) == 0;
  }

 private:
  std::ifstream stream_;
  uint64_t size_ = 0;
};

}  // namespace ferrule::tools
