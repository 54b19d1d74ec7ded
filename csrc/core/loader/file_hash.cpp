#include "core/loader/file_hash.h"

#include "sdk/tools/sha256.h"

#include <map>
#include <mutex>

namespace ferrule {

std::optional<std::string> hash_of(const std::filesystem::path& path, const FileIdentity& identity) {
  static std::mutex mutex;
  static std::map<FileIdentity, std::string> known;
  // Where the system tells no inode, two files of one size and time would be one.
  const bool is_cacheable = identity.inode != 0;
  const std::scoped_lock lock(mutex);
  if (is_cacheable)
    if (const auto found = known.find(identity); found != known.end()) return found->second;
  std::optional<std::string> hash = tools::sha256_of_file(path);
  if (hash && is_cacheable) known.emplace(identity, *hash);
  return hash;
}

}  // namespace ferrule
