// Captures the output of a process; keeps its beginning and its end.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

namespace ferrule::probe {

class Capture {
 public:
  // is_too_much() after more than `limit` bytes. Far fewer bytes are kept.
  explicit Capture(std::size_t limit) : limit_(limit) {}

  void add(const char* bytes, std::size_t count) {
    total_ += count;
    const std::size_t first = std::min(count, kept - beginning_.size());
    beginning_.append(bytes, first);
    end_.append(bytes + first, count - first);
    if (end_.size() > 2 * kept) end_.erase(0, end_.size() - kept);
  }
  bool is_too_much() const { return total_ > limit_; }
  std::string text() const {
    if (total_ <= beginning_.size() + end_.size()) return beginning_ + end_;
    return beginning_ + "\n[... " + std::to_string(total_ - beginning_.size() - end_.size()) + " bytes ...]\n" + end_;
  }

 private:
  static constexpr std::size_t kept = 4096;
  const std::size_t limit_;
  std::size_t total_ = 0;
  std::string beginning_, end_;
};

}  // namespace ferrule::probe
