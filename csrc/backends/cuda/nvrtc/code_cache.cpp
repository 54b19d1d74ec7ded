#include "nvrtc/code_cache.h"

#include <ferrule/cpp/cache.hpp>

#include <algorithm>
#include <cstring>
#include <exception>

#include "nvrtc/kernel_headers.h"

namespace ferrule::cuda {
namespace {

constexpr const char* kind = "cuda_kernels";
constexpr size_t most_bytes = size_t{16} << 20;  // some hundred kernels

// The headers are what a text includes: a build of the module with others has other kernels.
uint64_t hash_of_headers() {
  uint64_t hash = sdk::hash_of("");
  for (const KernelHeader& header : kernel_headers()) hash = sdk::hash_of(header.text, hash);
  return hash;
}

void put_size(std::vector<uint8_t>& bytes, uint64_t size) {
  for (int shift = 0; shift < 64; shift += 8) bytes.push_back(static_cast<uint8_t>(size >> shift));
}

}  // namespace

CodeCache::CodeCache(const Nvrtc& nvrtc)
    : key_(std::string("ferrule-cuda ") + FERRULE_VERSION + "\nheaders " + std::to_string(hash_of_headers()) +
           "\nnvrtc " + std::to_string(nvrtc.version()) + "\narchitecture " + nvrtc.architecture()) {
  if (const auto bytes = sdk::kept(kind, key_))
    for (auto& [text, code] : unpacked(*bytes)) code_.emplace(text, std::move(code));
}

std::vector<uint8_t> CodeCache::packed(const Rows& rows, size_t most) {
  std::vector<uint8_t> bytes;
  for (const auto& [text, code] : rows) {
    if (bytes.size() + 16 + text.size() + code.size() > most) break;
    put_size(bytes, text.size());
    put_size(bytes, code.size());
    bytes.insert(bytes.end(), text.begin(), text.end());
    bytes.insert(bytes.end(), code.begin(), code.end());
  }
  return bytes;
}

CodeCache::Rows CodeCache::unpacked(const std::vector<uint8_t>& bytes) {
  Rows rows;
  size_t at = 0;
  const auto take_size = [&] {
    uint64_t size = 0;
    for (int shift = 0; shift < 64; shift += 8) size |= uint64_t{bytes[at++]} << shift;
    return size;
  };
  while (bytes.size() - at >= 16) {
    const uint64_t text_size = take_size(), code_size = take_size();
    if (text_size > bytes.size() - at || code_size > bytes.size() - at - text_size) break;
    const auto text = bytes.begin() + static_cast<std::ptrdiff_t>(at),
               code = text + static_cast<std::ptrdiff_t>(text_size);
    rows.emplace_back(std::string(text, code),
                      std::vector<uint8_t>(code, code + static_cast<std::ptrdiff_t>(code_size)));
    at += text_size + code_size;
  }
  return rows;
}

std::optional<std::vector<uint8_t>> CodeCache::find(const std::string& text) {
  const std::lock_guard lock(mutex_);
  const auto found = code_.find(text);
  return found == code_.end() ? std::nullopt : std::optional(found->second);
}

void CodeCache::put(const std::string& text, std::vector<uint8_t> code) {
  const std::lock_guard lock(mutex_);
  code_[text] = std::move(code);
  if (std::find(unsaved_.begin(), unsaved_.end(), text) == unsaved_.end()) unsaved_.push_back(text);
}

void CodeCache::save() noexcept try {
  const std::lock_guard lock(mutex_);
  if (unsaved_.empty()) return;
  Rows rows;
  for (const std::string& text : unsaved_) rows.emplace_front(text, std::move(code_.at(text)));
  // The kernels are loaded; what is unloaded and wanted again is compiled again.
  for (const std::string& text : unsaved_) code_.erase(text);
  unsaved_.clear();
  if (sdk::host_cache() == nullptr) return;
  if (const auto bytes = sdk::kept(kind, key_))
    for (auto& row : unpacked(*bytes))
      if (std::none_of(rows.begin(), rows.end(), [&](const auto& known) { return known.first == row.first; }))
        rows.push_back(std::move(row));
  sdk::keep(kind, key_, packed(rows, most_bytes));
} catch (const std::exception&) {  // out of memory: the next process compiles again
}

}  // namespace ferrule::cuda
