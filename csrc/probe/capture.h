// Captures the output of a process; keeps its beginning and its end.
#pragma once

#include <unistd.h>

#include <array>
#include <cstddef>
#include <string>

namespace ferrule::probe {

class Capture {
 public:
  // is_too_much() after more than `limit` bytes. Far fewer bytes are kept.
  explicit Capture(std::size_t limit) : limit_(limit) {}

  // Reads what is available from a non-blocking descriptor, at most a megabyte per call.
  void read(int descriptor) {
    std::array<char, 8192> bytes{};
    for (int round = 0; round < 128; ++round) {
      const ssize_t count = ::read(descriptor, bytes.data(), bytes.size());
      if (count <= 0) return;
      keep(bytes.data(), static_cast<std::size_t>(count));
    }
  }
  bool is_too_much() const { return total_ > limit_; }
  std::string text() const {
    if (total_ <= beginning_.size() + end_.size()) return beginning_ + end_;
    return beginning_ + "\n[... " + std::to_string(total_ - beginning_.size() - end_.size()) + " bytes ...]\n" + end_;
  }

 private:
  void keep(const char* bytes, std::size_t count) {
    total_ += count;
    const std::size_t first = std::min(count, kept - beginning_.size());
    beginning_.append(bytes, first);
    end_.append(bytes + first, count - first);
    if (end_.size() > 2 * kept) end_.erase(0, end_.size() - kept);
  }

  static constexpr std::size_t kept = 4096;
  const std::size_t limit_;
  std::size_t total_ = 0;
  std::string beginning_, end_;
};

}  // namespace ferrule::probe
