#include "core/loader/file_hash.h"

#include "core/loader/disk_cache.h"
#include "sdk/tools/sha256.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>

namespace ferrule {
namespace {

constexpr uint64_t smallest_on_disk = 128 * 1024;  // bytes; less is hashed sooner than looked up
// As coarse as the clock of a file system may be: what changed a moment ago may change again at the same time.
constexpr std::chrono::seconds settled_after{2};

bool is_settled(const tools::FileIdentity& identity) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const std::chrono::nanoseconds changed(std::max(identity.changed_ns, identity.modified_ns));
  return changed + settled_after < now;
}

std::string key_of(const std::filesystem::path& path, const tools::FileIdentity& identity) {
  return fmt::format("{} {} {} {} {} {}", identity.device, identity.inode, identity.size, identity.modified_ns,
                     identity.changed_ns, path.string());
}

std::optional<std::string> fresh_hash(tools::FileBytes& file, const tools::FileIdentity& identity) {
  std::optional<std::string> hash = tools::sha256_of(file);
  return file.identity() == identity ? hash : std::nullopt;
}

}  // namespace

std::optional<std::string> hash_of(tools::FileBytes& file, const std::filesystem::path& path) {
  static std::mutex mutex;
  static std::map<std::string, std::string> known;
  const auto identity = file.identity();
  if (!identity) return std::nullopt;
  // Where the system tells no inode, two files of one size and time would be one.
  if (identity->inode == 0 || !is_settled(*identity)) return fresh_hash(file, *identity);
  const std::scoped_lock lock(mutex);
  const std::string key = key_of(path, *identity);
  if (const auto found = known.find(key); found != known.end()) return found->second;
  const bool is_on_disk = identity->size >= smallest_on_disk;
  std::optional<std::string> hash;
  if (is_on_disk) hash = disk_cache::get("hash", key);
  if (!hash) {
    hash = fresh_hash(file, *identity);
    if (hash && is_on_disk) disk_cache::put("hash", key, *hash);
  }
  if (hash) known.emplace(key, *hash);
  return hash;
}

}  // namespace ferrule
