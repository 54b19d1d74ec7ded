#include "core/loader/trust/file_hash.h"

#include "core/cache/disk_cache.h"
#include "core/sync/immortal.h"
#include "core/sync/mutexes.h"
#include "module_file/sha256.h"
#include "module_file/path_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>

namespace ferrule {
namespace {

constexpr uint64_t smallest_on_disk = 128 * 1024;  // bytes; a smaller file is hashed faster than it is looked up
// File systems may have coarse timestamps: a file that changed a moment ago may change again with the same timestamp.
constexpr std::chrono::seconds settled_after{2};

bool is_settled(const module_file::FileIdentity& identity) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const std::chrono::nanoseconds changed(std::max(identity.changed_ns, identity.modified_ns));
  return changed + settled_after < now;
}

std::string key_of(const std::filesystem::path& path, const module_file::FileIdentity& identity) {
  return fmt::format("{} {} {} {} {} {}", identity.device, identity.inode, identity.size, identity.modified_ns,
                     identity.changed_ns, path_to_text(path));
}

std::optional<std::string> fresh_hash(module_file::FileBytes& file, const module_file::FileIdentity& identity) {
  std::optional<std::string> hash = module_file::sha256_of(file);
  return file.identity() == identity ? hash : std::nullopt;
}

struct Known {
  BriefMutex mutex;
  std::map<std::string, std::string> hashes;  // by key
};
Known& known() { return Immortal<Known>::get(); }

std::optional<std::string> known_hash(const std::string& key) {
  const std::scoped_lock lock(known().mutex);
  const auto found = known().hashes.find(key);
  return found != known().hashes.end() ? std::optional(found->second) : std::nullopt;
}

}  // namespace

std::optional<std::string> hash_of(module_file::FileBytes& file, const std::filesystem::path& path) {
  const auto identity = file.identity();
  if (!identity) return std::nullopt;
  // Two files of the same size and time would have the same key if there are no inode numbers.
  if (identity->inode == 0 || !is_settled(*identity)) return fresh_hash(file, *identity);
  const std::string key = key_of(path, *identity);
  if (auto hash = known_hash(key)) return hash;
  const bool is_on_disk = identity->size >= smallest_on_disk;
  std::optional<std::string> hash;
  if (is_on_disk) hash = disk_cache::get("hash", key);
  if (!hash) {
    hash = fresh_hash(file, *identity);
    if (hash && is_on_disk) disk_cache::put("hash", key, *hash);
  }
  if (hash) {
    const std::scoped_lock lock(known().mutex);
    known().hashes.emplace(key, *hash);
  }
  return hash;
}

}  // namespace ferrule
