#include "core/platform/files/file_writers.h"

#include "core/error.h"
#include "module_file/path_text.h"

#include <fmt/format.h>

#if !defined(_WIN32)
#include "core/sync/fork.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <grp.h>
#include <optional>
#include <pwd.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace ferrule {
namespace {

constexpr std::size_t largest_record = 1 << 20;  // bytes, in the user and group databases

struct Group {
  std::string name;
  std::vector<std::string> members;  // those whom it lists; not those with it as their primary group
};

// Queries a database with a growing buffer: the size needed is not known in advance.
template <class Record, class Ask>
bool ask_database(std::vector<char>& buffer, Record& record, Ask ask) {
  const HoldsForks holds_forks;  // libc does not release the database's lock in a forked child
  for (buffer.resize(4096); buffer.size() <= largest_record; buffer.resize(buffer.size() * 4)) {
    Record* found = nullptr;
    if (const int problem = ask(&record, buffer.data(), buffer.size(), &found); problem != ERANGE)
      return problem == 0 && found != nullptr;
  }
  return false;
}

std::optional<Group> group_of(gid_t id) {
  std::vector<char> buffer;
  group record{};
  if (!ask_database(buffer, record, [&](auto... arguments) { return getgrgid_r(id, arguments...); }))
    return std::nullopt;
  Group found{record.gr_name, {}};
  for (char** member = record.gr_mem; *member != nullptr; ++member) found.members.emplace_back(*member);
  return found;
}

struct User {
  std::string name;
  gid_t group;
};

std::optional<User> user_of(uid_t id) {
  std::vector<char> buffer;
  passwd record{};
  if (!ask_database(buffer, record, [&](auto... arguments) { return getpwuid_r(id, arguments...); }))
    return std::nullopt;
  return User{record.pw_name, record.pw_gid};
}

bool is_member(uid_t id, gid_t group) {
  const auto user = user_of(id);
  if (!user) return false;
  if (user->group == group) return true;
  const auto record = group_of(group);
  return record && std::find(record->members.begin(), record->members.end(), user->name) != record->members.end();
}

// Whether the group is the primary group of the user of the same number, and lists nobody else. Other users whose
// primary group it is are not looked for: no database lists them.
bool is_private_group(gid_t id) {
  const auto user = user_of(id);
  const auto record = group_of(id);
  return user && record && user->group == id &&
         std::all_of(record->members.begin(), record->members.end(),
                     [&](const std::string& name) { return name == user->name; });
}

}  // namespace

std::vector<Writer> writers_of(const std::filesystem::path& path, WriterOf what) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0)
    fail(FE_IO, "{} cannot be inspected: {}", path_to_text(path), std::generic_category().message(errno));
  std::vector<Writer> writers = {{Writer::Kind::user, status.st_uid}};
  if (what == WriterOf::folder_above && (status.st_mode & S_ISVTX) != 0) return writers;
  if ((status.st_mode & S_IWGRP) != 0) writers.push_back({Writer::Kind::group, status.st_gid});
  if ((status.st_mode & S_IWOTH) != 0) writers.push_back({Writer::Kind::everybody, 0});
  return writers;
}

bool is_among(const Writer& writer, const std::set<Writer>& writers) {
  if (writers.contains(writer) || writers.contains({Writer::Kind::everybody, 0})) return true;
  if (writer.kind == Writer::Kind::everybody) return false;
  const bool is_user = writer.kind == Writer::Kind::user;
  if (is_user && (writer.id == 0 || writer.id == geteuid())) return true;
  if (is_user)
    return std::any_of(writers.begin(), writers.end(), [&](const Writer& other) {
      return other.kind == Writer::Kind::group && is_member(writer.id, other.id);
    });
  // The private group of a trusted user counts as that user.
  return is_among({Writer::Kind::user, writer.id}, writers) && is_private_group(writer.id);
}

std::string describe(const Writer& writer) {
  if (writer.kind == Writer::Kind::everybody) return "everybody";
  if (writer.kind == Writer::Kind::user) {
    const auto user = user_of(writer.id);
    return user ? fmt::format("uid {} ({})", writer.id, user->name) : fmt::format("uid {}", writer.id);
  }
  const auto record = group_of(writer.id);
  return record ? fmt::format("group {} ({})", writer.id, record->name) : fmt::format("group {}", writer.id);
}

std::string advice_against(const Writer& writer, const std::filesystem::path& path) {
  switch (writer.kind) {
    case Writer::Kind::group:
      return fmt::format("chmod g-w '{}'", path_to_text(path));
    case Writer::Kind::everybody:
      return fmt::format("chmod o-w '{}'", path_to_text(path));
    default:
      return "put it where only you can write";
  }
}

}  // namespace ferrule
#endif

namespace ferrule {

std::set<Writer> writers_of_whole_path(const std::filesystem::path& path) {
  std::set<Writer> all;
  const auto add = [&](const std::filesystem::path& part, WriterOf what) {
    const auto writers = writers_of(part, what);
    all.insert(writers.begin(), writers.end());
  };
  add(path, WriterOf::file);
  std::filesystem::path folder = path.parent_path();
  add(folder, WriterOf::folder);
  for (; folder != folder.parent_path(); folder = folder.parent_path())
    add(folder.parent_path(), WriterOf::folder_above);
  return all;
}

std::string complaint_about_folders(std::filesystem::path folder, WriterOf what) {
  try {
    for (;; what = WriterOf::folder_above) {
      for (const Writer& writer : writers_of(folder, what))
        if (!is_among(writer, {}))
          return fmt::format("{} can be written by {}", path_to_text(folder), describe(writer));
      if (folder == folder.parent_path()) return "";
      folder = folder.parent_path();
    }
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace ferrule
