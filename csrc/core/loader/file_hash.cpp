#include "core/loader/file_hash.h"

#include "core/threads/immortal.h"
#include "core/threads/mutexes.h"
#include "sdk/tools/sha256.h"

#include <map>
#include <mutex>

namespace ferrule {
namespace {

struct Known {
  BriefMutex mutex;
  std::map<FileIdentity, std::string> hashes;
};
Known& known() { return Immortal<Known>::get(); }

std::optional<std::string> known_hash(const FileIdentity& identity) {
  const std::scoped_lock lock(known().mutex);
  const auto found = known().hashes.find(identity);
  if (found == known().hashes.end()) return std::nullopt;
  return found->second;
}

}  // namespace

std::optional<std::string> hash_of(const std::filesystem::path& path, const FileIdentity& identity) {
  // Where the system tells no inode, two files of one size and time would be one.
  const bool is_cacheable = identity.inode != 0;
  if (is_cacheable)
    if (auto hash = known_hash(identity)) return hash;
  std::optional<std::string> hash = tools::sha256_of_file(path);
  if (hash && is_cacheable) {
    const std::scoped_lock lock(known().mutex);
    known().hashes.emplace(identity, *hash);
  }
  return hash;
}

}  // namespace ferrule
