// Who can write a file or a folder, as the system's modes and access lists have it.
#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace ferrule {

struct Writer {
  enum class Kind { user, group, everybody };
  Kind kind = Kind::everybody;
  uint32_t id = 0;  // of the user or the group
  friend auto operator<=>(const Writer&, const Writer&) = default;
};

enum class WriterOf {
  file,
  folder,        // of which anything may be added or taken
  folder_above,  // in a sticky one, such as /tmp, nobody but its owner takes away what belongs to others
};

#if !defined(_WIN32)
// Of what lies at this path itself: its owner, and whom its mode or its access list lets write. Throws io when it
// cannot be looked at.
std::vector<Writer> writers_of(const std::filesystem::path& path, WriterOf what);
// Of a file, and of each folder above it. `path` is a real path.
std::set<Writer> writers_of_whole_path(const std::filesystem::path& path);

// Whether all who are this writer are among those in the set. Root and the effective user are in any.
bool is_among(const Writer& writer, const std::set<Writer>& writers);

// "uid 1000 (anna)", "group 100 (users)", "everybody"
std::string describe(const Writer& writer);
#endif

}  // namespace ferrule
