#include "core/cache/disk_cache.h"

#include "core/cache/private_folder.h"
#include "core/environment.h"
#include "core/log.h"
#include "module_file/sha256.h"
#include "module_file/path_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <random>
#include <system_error>
#include <utility>
#include <vector>

namespace ferrule::disk_cache {
namespace {

namespace fs = std::filesystem;

struct Bounds {
  std::size_t largest_entry;  // bytes of the file
  std::size_t max_entries;
};
constexpr Bounds of_core{64 * 1024, 512};
constexpr Bounds of_modules{64 << 20, 16};
constexpr std::string_view ending = ".entry";
constexpr std::string_view unfinished_ending = ".unfinished";
constexpr std::chrono::minutes longest_write{10};  // an older unfinished file was left by a process that died
constexpr std::size_t digits_in_name = 32;
constexpr std::size_t digits_of_hash = 64;
constexpr std::string_view first_word = "ferrule-cache 1 ";
constexpr std::size_t max_around_both = 128;  // bytes

std::string sha256(std::string_view text) {
  module_file::Sha256 sha;
  sha.update({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  return sha.finish();
}

std::string file_name(std::string_view kind, std::string_view key) {
  return fmt::format("{}-{}{}", kind, sha256(key).substr(0, digits_in_name), ending);
}

bool is_of_module(std::string_view name) { return name.starts_with(module_prefix); }

const Bounds& bounds_of(std::string_view kind) { return is_of_module(kind) ? of_modules : of_core; }

std::string before_text(std::string_view key) { return fmt::format("{:08x}\n{}", key.size(), key); }

// An entry begins with the hash of the rest, so that a truncated or damaged file is recognized.
std::string entry_of(std::string_view key, std::string_view text) {
  std::string body = before_text(key);
  body += text;
  return fmt::format("{}{}\n{}", first_word, sha256(body), body);
}

std::optional<std::string> text_of(std::string_view entry, std::string_view key) {
  constexpr std::size_t size_of_head = first_word.size() + digits_of_hash + 1;
  if (!entry.starts_with(first_word) || entry.size() < size_of_head) return std::nullopt;
  const std::string_view body = entry.substr(size_of_head);
  if (entry.substr(first_word.size(), digits_of_hash + 1) != sha256(body) + '\n') return std::nullopt;
  const std::string before = before_text(key);
  if (!body.starts_with(before)) return std::nullopt;
  return std::string(body.substr(before.size()));
}

// The user's folder for caches; empty when the process has no home folder.
fs::path users_folder() {
#if defined(_WIN32)
  return environment_path("LOCALAPPDATA");
#else
  const fs::path home = environment_path("HOME");
#if defined(__APPLE__)
  const fs::path caches = home / "Library" / "Caches";
#else
  // The XDG specification says that relative paths are ignored.
  fs::path named = environment_path("XDG_CACHE_HOME");
  if (named.is_absolute()) return named;
  const fs::path caches = home / ".cache";
#endif
  // Service accounts have a home that does not exist; it is not created.
  std::error_code problem;
  return home.is_absolute() && fs::is_directory(home, problem) ? caches : fs::path();
#endif
}

std::string unfinished_name() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{}", random(), random(), unfinished_ending);
}

// Removes old entries when there are too many of this kind. Other processes may do the same at the same time, so files
// may disappear meanwhile.
void make_room(const PrivateFolder& folder, std::string_view kind) {
  const auto counts = [&](std::string_view name) {
    return name.ends_with(ending) && is_of_module(name) == is_of_module(kind);
  };
  std::vector<std::pair<std::chrono::system_clock::time_point, std::string>> entries;
  const auto now = std::chrono::system_clock::now();
  std::size_t count = 0;
  const std::vector<std::string> names = folder.names();
  for (const std::string& name : names) {
    if (counts(name)) ++count;
    if (!name.ends_with(unfinished_ending)) continue;
    if (const auto written = folder.written_at(name); written && now - *written > longest_write) folder.remove(name);
  }
  if (count <= bounds_of(kind).max_entries) return;
  for (const std::string& name : names)
    if (counts(name))
      if (const auto written = folder.written_at(name)) entries.emplace_back(*written, name);
  std::sort(entries.begin(), entries.end());
  entries.resize(std::min(entries.size(), count / 4));
  for (const auto& [written, name] : entries) folder.remove(name);
  log_debug("cache: the {} oldest of {} entries were removed", entries.size(), count);
}

std::optional<PrivateFolder> try_open(const fs::path& path) {
  std::string problem;
  auto folder = PrivateFolder::open(path, problem);
  if (!folder) log_debug("cache: {} is not used: {}", path_to_text(path), problem);
  return folder;
}

// Warns of the first fault of the cache's variable; the others are the same, mostly.
void warn_once(const std::string& sentence) {
  static std::atomic_flag is_told;
  if (!is_told.test_and_set()) log_warning("cache: {}", sentence);
}

// Logs why nothing is kept; returns false.
bool give_up(std::string_view reason) {
  log_debug("cache: {}", reason);
  return false;
}

bool give_up_on(const fs::path& folder, const std::string& problem) {
  // A home folder may be read-only, but a folder that somebody named should work.
  if (environment("FERRULE_CACHE_DIR"))
    warn_once(
        fmt::format("FERRULE_CACHE_DIR: nothing is cached, as {} cannot be used: {}", path_to_text(folder), problem));
  return give_up(fmt::format("{} is not used: {}", path_to_text(folder), problem));
}

bool put_or_throw(std::string_view kind, std::string_view key, std::string_view text) {
  const fs::path path = folder();
  if (path.empty()) return false;
  const std::size_t most = bounds_of(kind).largest_entry - max_around_both;
  if (key.size() > most || text.size() > most - key.size())
    return give_up(fmt::format("a key of {} bytes with {} is too large to be kept", key.size(), text.size()));
  std::string problem;
  PrivateFolder::create(path, problem);
  const auto folder = problem.empty() ? PrivateFolder::open(path, problem) : std::nullopt;
  if (!folder) return give_up_on(path, problem);
  make_room(*folder, kind);
  return folder->write(file_name(kind, key), unfinished_name(), entry_of(key, text)) ||
         give_up_on(path, "nothing can be written into it");
}

std::optional<std::string> get_or_throw(std::string_view kind, std::string_view key) {
  const fs::path path = folder();
  if (path.empty()) return std::nullopt;
  const auto folder = try_open(path);
  if (!folder) return std::nullopt;
  const auto entry = folder->read(file_name(kind, key), bounds_of(kind).largest_entry);
  if (!entry) return std::nullopt;
  auto text = text_of(*entry, key);
  if (!text) log_debug("cache: {} in {} is damaged, or about something else", file_name(kind, key), path_to_text(path));
  return text;
}

}  // namespace

fs::path folder() {
  if (fs::path named = environment_path("FERRULE_CACHE_DIR"); !named.empty()) {
    if (named.is_absolute()) return named;
    warn_once(fmt::format("FERRULE_CACHE_DIR is '{}', not an absolute path: nothing is cached", path_to_text(named)));
    return {};
  }
  const fs::path users = users_folder();
  return users.is_absolute() ? users / "ferrule" : fs::path();
}

std::optional<std::string> get(std::string_view kind, std::string_view key) noexcept {
  try {
    return get_or_throw(kind, key);
  } catch (const std::exception&) {  // no memory
    return std::nullopt;
  }
}

bool put(std::string_view kind, std::string_view key, std::string_view text) noexcept {
  try {
    return put_or_throw(kind, key, text);
  } catch (const std::exception& error) {
    log_line(FE_LOG_DEBUG, error.what());
    return false;
  }
}

}  // namespace ferrule::disk_cache
