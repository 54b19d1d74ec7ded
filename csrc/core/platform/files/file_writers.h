// Finds who can write a file or a folder: by its owner and mode, on Windows by its owner and access list.
#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace ferrule {

#if defined(_WIN32)
struct Writer {
  std::string sid;  // of a user or a group, as "S-1-5-32-545"
  friend auto operator<=>(const Writer&, const Writer&) = default;
};
#else
struct Writer {
  enum class Kind { user, group, everybody };
  Kind kind = Kind::everybody;
  uint32_t id = 0;  // the uid or gid
  friend auto operator<=>(const Writer&, const Writer&) = default;
};
#endif

enum class WriterOf {
  file,
  folder,        // a writer can add and remove any entry
  folder_above,  // in a sticky folder, such as /tmp, only the folder's owner can remove entries of other users
};

// The owner of a file or folder, and those to whom its mode (on Windows its access list) gives write permission. Links
// are not followed. Throws io when its status cannot be read.
std::vector<Writer> writers_of(const std::filesystem::path& path, WriterOf what);
// The writers of a file and of each folder above it. `path` must be a real path.
std::set<Writer> writers_of_whole_path(const std::filesystem::path& path);

// Whether the set covers everyone that this writer stands for. Root and the effective user are in every set, on Windows
// the administrators, the system, and this process's user.
bool is_among(const Writer& writer, const std::set<Writer>& writers);

// "uid 1000 (anna)", "group 100 (users)", "everybody"; on Windows "BUILTIN\Users"
std::string describe(const Writer& writer);

// A sentence about the first folder, from a real path upwards, that somebody else than root and this user can write; ""
// if there is none. `what` is what the path itself is.
std::string complaint_about_folders(std::filesystem::path folder, WriterOf what);

// The command that takes the permission from a writer: "chmod g-w 'file'".
std::string advice_against(const Writer& writer, const std::filesystem::path& path);

}  // namespace ferrule
