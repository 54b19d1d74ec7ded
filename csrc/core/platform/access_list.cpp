#include "core/platform/access_list.h"

#if !defined(_WIN32)
#include <algorithm>
#include <array>
#include <cstring>

namespace ferrule {
namespace {

// The format of acl(5) and linux/posix_acl_xattr.h: a version, then entries, in little-endian numbers.
struct Entry {
  uint16_t tag, permissions;
  uint32_t id;
};
static_assert(sizeof(Entry) == 8);
constexpr uint32_t known_version = 2;
constexpr uint16_t named_user = 0x02, owning_group = 0x04, named_group = 0x08, mask = 0x10;
constexpr uint16_t write = 2;

}  // namespace

std::optional<std::vector<Writer>> writers_in_access_list(std::span<const std::byte> attribute, uint32_t group) {
  uint32_t version = 0;
  if (attribute.size() < sizeof version || (attribute.size() - sizeof version) % sizeof(Entry) != 0)
    return std::nullopt;
  std::memcpy(&version, attribute.data(), sizeof version);
  if (version != known_version) return std::nullopt;
  std::vector<Entry> entries((attribute.size() - sizeof version) / sizeof(Entry));
  std::memcpy(entries.data(), attribute.data() + sizeof version, entries.size() * sizeof(Entry));
  // The mask limits the permissions of all named users and groups.
  const auto limit = std::find_if(entries.begin(), entries.end(), [](const Entry& entry) { return entry.tag == mask; });
  const uint16_t allowed = limit != entries.end() ? limit->permissions : write;
  std::vector<Writer> writers;
  for (const Entry& entry : entries) {
    if ((entry.permissions & allowed & write) == 0) continue;
    if (entry.tag == named_user) writers.push_back({Writer::Kind::user, entry.id});
    if (entry.tag == named_group) writers.push_back({Writer::Kind::group, entry.id});
    if (entry.tag == owning_group) writers.push_back({Writer::Kind::group, group});
  }
  return writers;
}

}  // namespace ferrule
#endif
