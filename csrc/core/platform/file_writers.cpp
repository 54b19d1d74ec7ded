#include "core/platform/file_writers.h"

#include "core/error.h"
#include "module_file/path_text.h"

#include <fmt/format.h>

#if !defined(_WIN32)
#include "core/platform/access_list.h"
#include "core/platform/local_accounts.h"
#include "core/sync/fork.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <grp.h>
#include <optional>
#include <pwd.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#if defined(__linux__)
#include <sys/xattr.h>
#endif

namespace ferrule {
namespace {

constexpr std::size_t largest_record = 1 << 20;  // bytes, in the user and group databases

struct Group {
  std::string name;
  std::vector<std::string> members;  // users listed in the group; not those with it as their primary group
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
  uid_t id;
  gid_t group;
};

template <class Ask>
std::optional<User> user_by(Ask ask) {
  std::vector<char> buffer;
  passwd record{};
  if (!ask_database(buffer, record, ask)) return std::nullopt;
  return User{record.pw_name, record.pw_uid, record.pw_gid};
}

std::optional<User> user_of(uid_t id) {
  return user_by([&](auto... arguments) { return getpwuid_r(id, arguments...); });
}

std::optional<User> user_named(const std::string& name) {
  return user_by([&](auto... arguments) { return getpwnam_r(name.c_str(), arguments...); });
}

bool is_member(uid_t id, gid_t group) {
  const auto user = user_of(id);
  if (!user) return false;
  if (user->group == group) return true;
  const auto record = group_of(group);
  return record && std::find(record->members.begin(), record->members.end(), user->name) != record->members.end();
}

// The system keeps an access list only when it has named entries; the mode's group bits are then the list's mask.
std::optional<std::vector<Writer>> writers_in_list(const std::filesystem::path& path, gid_t group) {
#if defined(__linux__)
  std::array<std::byte, 4096> attribute{};
  const ssize_t size = getxattr(path.c_str(), "system.posix_acl_access", attribute.data(), attribute.size());
  if (size <= 0) return std::nullopt;
  return writers_in_access_list(std::span(attribute).first(static_cast<std::size_t>(size)), group);
#else
  static_cast<void>(path), static_cast<void>(group);
  return std::nullopt;
#endif
}

}  // namespace

std::vector<Writer> writers_of(const std::filesystem::path& path, WriterOf what) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0)
    fail(FE_IO, "{} cannot be inspected: {}", path_to_text(path), std::generic_category().message(errno));
  std::vector<Writer> writers = {{Writer::Kind::user, status.st_uid}};
  if (what == WriterOf::folder_above && (status.st_mode & S_ISVTX) != 0) return writers;
  if ((status.st_mode & S_IWGRP) != 0) {
    const std::vector<Writer> of_mode = {{Writer::Kind::group, status.st_gid}};
    const auto more = writers_in_list(path, status.st_gid).value_or(of_mode);
    writers.insert(writers.end(), more.begin(), more.end());
  }
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
  // A group is a trusted user's private group when its id is the user's, and all its members, and all users with it
  // as their primary group, are trusted.
  const auto is_trusted = [&](uint32_t user) { return is_among({Writer::Kind::user, user}, writers); };
  if (!is_trusted(writer.id)) return false;
  const auto record = group_of(writer.id);
  if (!record || !is_first_group_of_trusted_only(writer.id, local_accounts(), is_trusted)) return false;
  return std::all_of(record->members.begin(), record->members.end(), [&](const std::string& name) {
    const auto user = user_named(name);
    return user && is_trusted(user->id);
  });
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
