// Machine code of generated kernels, kept on disk for the next process (ferrule/cache.h).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "nvrtc/library.h"

namespace ferrule::cuda {

// All kernels of one NVRTC and one architecture are one entry of the cache, because it keeps few entries. Thread-safe.
class CodeCache {
 public:
  explicit CodeCache(const Nvrtc& nvrtc);

  std::optional<std::vector<uint8_t>> find(const std::string& text);
  // Adds code, or replaces it. It is on disk after save().
  void put(const std::string& text, std::vector<uint8_t> code);
  // Writes what was put since the last save, together with what other processes have written.
  void save() noexcept;

  using Rows = std::deque<std::pair<std::string, std::vector<uint8_t>>>;  // texts and their code, the newest first
  // Rows as bytes, as far as `most` bytes suffice, and back. Bytes that are no rows give those before the damage.
  static std::vector<uint8_t> packed(const Rows& rows, size_t most);
  static Rows unpacked(const std::vector<uint8_t>& bytes);

 private:
  const std::string key_;
  std::mutex mutex_;
  std::map<std::string, std::vector<uint8_t>> code_;
  std::vector<std::string> unsaved_;  // texts, the oldest first
};

}  // namespace ferrule::cuda
