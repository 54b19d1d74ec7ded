// A module that can be written by a user who cannot write libferrule is not opened.
#include "loader_fixture.h"

#include "core/platform/access_list.h"
#include "core/platform/file_writers.h"
#include "core/platform/local_accounts.h"
#include "other_process.h"

#include <cerrno>
#include <cstring>
#include <sstream>
#include <sys/stat.h>
#if defined(__linux__)
#include <sched.h>
#include <sys/mount.h>
#include <sys/xattr.h>
#endif

namespace ferrule::test {
namespace {

constexpr uint32_t nobody = 65534, no_such_group = 47'110'815;
// Another user of the system, with a group of the same number.
const uint32_t stranger = geteuid() == nobody ? 1 : nobody;

void set_mode(const fs::path& path, mode_t mode) { ASSERT_EQ(chmod(path.c_str(), mode), 0) << path; }

class LoaderTrust : public LoaderTest {
 protected:
  LoaderTrust() : module_(put_with_manifest(root(), "t_plain", {})) {}

  LoadReport load_with(const std::string& trust) {
    LoadOptions options;
    options.dirs = {{root()}};
    options.policy = policy_of("manifest", "never", trust, false);
    return load_all(options);
  }
  // Opens the module in its current state; an earlier load is closed first.
  LoadRow loaded_row(const std::string& trust = "owner") {
    if (Registry::instance().find_backend("t_plain")) Registry::instance().unload("t_plain");
    forget_notes();
    LoadRow found = row(load_with(trust), "t_plain");
    EXPECT_EQ(noted("opened t_plain"), found.state == LoadState::loaded);
    return found;
  }
  // Checks that the module is refused with a message containing these words, and that a load without trust checks opens
  // it.
  void expect_unsafe(const fs::path& path, const std::string& who) {
    const LoadRow refused = loaded_row();
    EXPECT_EQ(refused.state, LoadState::unsafe) << refused.reason;
    EXPECT_CONTAINS(refused.reason, path.string() + " can be written by " + who + ", and libferrule cannot be");
    EXPECT_CONTAINS(refused.reason, "FERRULE_TRUST=any");
    EXPECT_EQ(loaded_row("any").state, LoadState::loaded);
  }
  void expect_loaded() {
    const LoadRow found = loaded_row();
    EXPECT_EQ(found.state, LoadState::loaded) << found.reason;
    EXPECT_TRUE(found.notes.empty());
  }

  fs::path module_;
  const fs::path manifest_ = fs::path(module_).replace_extension(".json");
};

TEST_F(LoaderTrust, WorldWritableFileIsNotOpened) {
  expect_loaded();
  for (const fs::path& path : {module_, manifest_, root(), folder_}) {
    struct stat before {};
    ASSERT_EQ(stat(path.c_str(), &before), 0);
    set_mode(path, 0777);
    expect_unsafe(path, "everybody");
    EXPECT_CONTAINS(loaded_row().reason, "chmod o-w '" + path.string() + "'");
    set_mode(path, before.st_mode & 07777);
    expect_loaded();
  }
}

TEST_F(LoaderTrust, StickyFolderIsSafeUnlessItContainsTheModule) {
  set_mode(folder_, 01777);
  expect_loaded();
  set_mode(root(), 01777);
  expect_unsafe(root(), "everybody");
}

TEST_F(LoaderTrust, PrivateGroupIsTrustedAndOtherGroupsAreNot) {
  // Only members of a group can give a file to it. Most systems give users a private group; root has one on all of
  // them.
  if (chown(root().c_str(), static_cast<uid_t>(-1), geteuid()) == 0) {
    set_mode(root(), 0775);
    expect_loaded();
  }
  if (geteuid() != 0) return;
  ASSERT_EQ(chown(root().c_str(), 0, no_such_group), 0);
  set_mode(root(), 0775);
  expect_unsafe(root(), "group 47110815");
  EXPECT_CONTAINS(loaded_row().reason, "chmod g-w");
  set_mode(root(), 0755);
  expect_loaded();
}

TEST_F(LoaderTrust, SubjectsAreClassifiedAsUserRootOrOthers) {
  const Writer root_user{Writer::Kind::user, 0}, us{Writer::Kind::user, geteuid()}, other{Writer::Kind::user, stranger};
  const Writer group{Writer::Kind::group, no_such_group}, everybody{Writer::Kind::everybody, 0};
  for (const Writer& writer : {root_user, us}) EXPECT_TRUE(is_among(writer, {}));
  for (const Writer& writer : {other, group, everybody}) {
    EXPECT_FALSE(is_among(writer, {})) << describe(writer);
    EXPECT_TRUE(is_among(writer, {writer}));
    EXPECT_TRUE(is_among(writer, {everybody}));
  }
  // A user without an entry in the database has no private group, even if he can write libferrule.
  EXPECT_FALSE(is_among({Writer::Kind::group, no_such_group}, {{Writer::Kind::user, no_such_group}}));
  EXPECT_TRUE(is_among(other, {{Writer::Kind::group, stranger}}));
  EXPECT_FALSE(is_among(other, {group}));
  EXPECT_EQ(describe(root_user), "uid 0 (root)");
  EXPECT_EQ(describe(group), "group 47110815");
}

bool is_own_group(const std::string& passwd, uint32_t group, std::vector<uint32_t> trusted) {
  std::istringstream text(passwd);
  return is_first_group_of_trusted_only(group, local_accounts_in(text), [&](uint32_t user) {
    return std::find(trusted.begin(), trusted.end(), user) != trusted.end();
  });
}

TEST(LoaderAccounts, GroupIsPrivateUnlessAnotherUserHasItAsPrimaryGroup) {
  const std::string anna = "root:x:0:0:root:/root:/bin/sh\nanna:x:1000:1000:Anna,,,:/home/anna:/bin/sh\n";
  const std::string bob = "bob:x:1001:1000::/home/bob:/bin/sh\n";
  EXPECT_TRUE(is_own_group(anna, 1000, {1000}));
  EXPECT_FALSE(is_own_group(anna + bob, 1000, {1000}));
  EXPECT_FALSE(is_own_group(bob + anna, 1000, {1000}));
  EXPECT_TRUE(is_own_group(anna + bob, 1000, {1000, 1001}));
  EXPECT_FALSE(is_own_group(anna, 1000, {0}));
  EXPECT_FALSE(is_own_group(anna, 1001, {1001})) << "of whom nobody knows";
  EXPECT_FALSE(is_own_group("", 0, {0}));
}

TEST(LoaderAccounts, InvalidLinesAreSkipped) {
  std::istringstream text(
      "# text\n\n+::::::\n:x:1:1:::\na:x:one:1:::\na:x:1:-1:::\na:x:1:99999999999:::\nb:x:2\nc:x:3:4:x");
  EXPECT_EQ(local_accounts_in(text), (std::vector<LocalAccount>{{"c", 3, 4}}));
  EXPECT_FALSE(local_accounts().empty());
}

#if defined(__linux__)
// Runs body in a process that has its own user and group databases.
template <class Body>
bool with_accounts(const fs::path& folder, const std::string& passwd, const std::string& group, Body body) {
  write_file(folder / "passwd", passwd);
  write_file(folder / "group", group);
  return in_processes(1, [&](int) {
    const auto put_over = [&](const char* name, const char* place) {
      return mount((folder / name).c_str(), place, nullptr, MS_BIND, nullptr) == 0;
    };
    return unshare(CLONE_NEWNS) == 0 && mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
           put_over("passwd", "/etc/passwd") && put_over("group", "/etc/group") && body();
  });
}

TEST_F(LoaderTrust, PrimaryGroupOfAnotherUserIsNotPrivate) {
  const std::string anna = "root:x:0:0::/:/bin/sh\nanna:x:1000:1000::/:/bin/sh\n";
  const std::string groups = "root:x:0:\nanna:x:1000:\n";
  const auto loads = [&](LoadState state) {
    return [&, state] {
      return setegid(1000) == 0 && seteuid(1000) == 0 && fs::exists(module_) &&
             is_among({Writer::Kind::user, 1000}, {}) && row(load_with("owner"), "t_plain").state == state;
    };
  };
  // A file that the user built with umask 002.
  if (geteuid() != 0 || !with_accounts(folder_, anna, groups, [] { return true; }))
    GTEST_SKIP() << "only root may change the databases; the accounts above are simulated";
  for (const fs::path& path : {module_, manifest_, root(), folder_}) {
    ASSERT_EQ(chown(path.c_str(), 1000, 1000), 0);
    set_mode(path, fs::is_directory(path) ? 0775 : 0664);
  }
  EXPECT_TRUE(with_accounts(folder_, anna, groups, loads(LoadState::loaded)));
  const std::string bob = "bob:x:1001:1000::/:/bin/sh\n", carl = "carl:x:1002:1002::/:/bin/sh\n";
  EXPECT_TRUE(with_accounts(folder_, anna + bob, groups, loads(LoadState::unsafe)));
  EXPECT_TRUE(with_accounts(folder_, anna + carl, groups, loads(LoadState::loaded)));
  EXPECT_TRUE(with_accounts(folder_, anna + carl, "root:x:0:\nanna:x:1000:anna,carl\n", loads(LoadState::unsafe)));
  EXPECT_TRUE(with_accounts(folder_, anna + carl, "root:x:0:\nanna:x:1000:anna\n", loads(LoadState::loaded)));
  // A user from a network directory that does not enumerate its users.
  EXPECT_TRUE(with_accounts(folder_, "root:x:0:0::/:/bin/sh\n", groups, loads(LoadState::unsafe)));
  // Group 0 is not private if system accounts belong to it.
  const std::string operators = "operator:x:11:0::/:/sbin/nologin\n";
  ASSERT_EQ(chown(root().c_str(), 0, 0), 0);
  EXPECT_TRUE(with_accounts(folder_, anna, groups, loads(LoadState::loaded)));
  EXPECT_TRUE(with_accounts(folder_, anna + operators, groups, loads(LoadState::unsafe)));
}
#endif

TEST_F(LoaderTrust, FileOfAnotherOwnerIsNotOpened) {
  if (geteuid() != 0) {
    // Only root can give files away; otherwise a folder of root's stands in for another user's.
    EXPECT_EQ(writers_of("/", WriterOf::folder).at(0), (Writer{Writer::Kind::user, 0}));
    return;
  }
  for (const fs::path& path : {module_, manifest_, root(), folder_}) {
    ASSERT_EQ(chown(path.c_str(), nobody, 0), 0);
    expect_unsafe(path, "uid 65534 (nobody)");
    EXPECT_CONTAINS(loaded_row().reason, "put it where only you can write");
    ASSERT_EQ(chown(path.c_str(), 0, 0), 0);
  }
  expect_loaded();
}

TEST_F(LoaderTrust, LinksAreCheckedByTheirTargets) {
  fs::create_directory(folder_ / "elsewhere");
  const fs::path real = put(folder_ / "elsewhere", "t_plain");
  fs::remove(module_);
  fs::remove(manifest_);
  fs::create_symlink(real, module_);
  expect_loaded();
  set_mode(folder_ / "elsewhere", 0777);
  expect_unsafe(folder_ / "elsewhere", "everybody");
  set_mode(folder_ / "elsewhere", 0755);
  fs::create_directory(folder_ / "open");
  write_manifest(real, {});
  const fs::path real_manifest = fs::path(real).replace_extension(".json");
  fs::rename(real_manifest, folder_ / "open" / "manifest");
  fs::create_symlink(folder_ / "open" / "manifest", real_manifest);
  expect_loaded();
  set_mode(folder_ / "open", 0777);
  expect_unsafe(folder_ / "open", "everybody");
}

TEST_F(LoaderTrust, ExplicitlyNamedFileOnlyGivesAWarning) {
  set_mode(module_, 0777);
  {
    Lines lines;
    load(module_, policy_of("manifest", "never", "owner", false));
    EXPECT_CONTAINS(lines.text, "can be written by everybody");
    Registry::instance().unload("t_plain");
  }
  const Variable named("FERRULE_BACKEND_PATH", module_);
  Lines lines;
  const LoadReport report = load_with("owner");
  ASSERT_NE(report.loaded("t_plain"), nullptr) << to_text(report);
  ASSERT_EQ(report.loaded("t_plain")->notes.size(), 1u);
  EXPECT_CONTAINS(report.loaded("t_plain")->notes[0], module_.string() + " can be written by everybody");
  EXPECT_CONTAINS(lines.text, "can be written by everybody");
}

TEST_F(LoaderTrust, VariableAppliesIfTheCallSetsNoPolicy) {
  set_mode(module_, 0777);
  {
    const Variable any("FERRULE_TRUST", "any");
    EXPECT_EQ(loaded_row("").state, LoadState::loaded);
    EXPECT_EQ(loaded_row("owner").state, LoadState::unsafe);
  }
  EXPECT_EQ(loaded_row("").state, LoadState::unsafe);
}

TEST_F(LoaderTrust, ManifestHashPolicyRefusesModulesWithoutManifest) {
  EXPECT_EQ(loaded_row("manifest-hash").state, LoadState::loaded);
  fs::remove(manifest_);
  const LoadRow refused = loaded_row("manifest-hash");
  EXPECT_EQ(refused.state, LoadState::unsafe);
  EXPECT_CONTAINS(refused.reason, "it has no manifest libferrule-t_plain.json");
  EXPECT_EQ(error_of([&] { load(module_, policy_of("manifest", "never", "manifest-hash", false)); }).code(),
            FE_UNSUPPORTED);
  EXPECT_EQ(loaded_row("owner").state, LoadState::loaded);
  write_manifest(module_, {});
  set_mode(module_, 0777);
  EXPECT_EQ(loaded_row("manifest-hash").state, LoadState::unsafe);
}

// An ACL in the kernel's format: version 2, then tag, permissions and id of each entry.
std::vector<std::byte> access_list(uint16_t of_named_user, uint16_t mask) {
  std::vector<std::byte> bytes(4 + 5 * 8);
  const auto put = [&](std::size_t at, auto value) { std::memcpy(bytes.data() + at, &value, sizeof value); };
  put(0, uint32_t{2});
  const uint16_t rows[5][2] = {{0x01, 7}, {0x02, of_named_user}, {0x04, 5}, {0x10, mask}, {0x20, 5}};
  for (std::size_t i = 0; i < 5; ++i) {
    put(4 + i * 8, rows[i][0]);
    put(4 + i * 8 + 2, rows[i][1]);
    put(4 + i * 8 + 4, i == 1 ? stranger : 0xffffffffu);
  }
  return bytes;
}

TEST(LoaderAccessList, ListsUsersAndGroupsThatMayWrite) {
  const std::vector<Writer> expected = {{Writer::Kind::user, stranger}};
  EXPECT_EQ(writers_in_access_list(access_list(7, 7), 5), expected);
  EXPECT_EQ(writers_in_access_list(access_list(7, 5), 5), std::vector<Writer>());
  EXPECT_EQ(writers_in_access_list(access_list(5, 7), 5), std::vector<Writer>());
  std::vector<std::byte> bytes = access_list(7, 7);
  bytes[4 + 2 * 8 + 2] = std::byte{2};  // the file's group
  EXPECT_EQ(writers_in_access_list(bytes, 5)->at(1), (Writer{Writer::Kind::group, 5}));
  bytes[4 + 8] = std::byte{8};  // the user entry becomes a group entry
  EXPECT_EQ(writers_in_access_list(bytes, 5)->at(0), (Writer{Writer::Kind::group, stranger}));
  bytes.pop_back();
  EXPECT_EQ(writers_in_access_list(bytes, 5), std::nullopt);
  bytes = access_list(7, 7);
  bytes[0] = std::byte{3};
  EXPECT_EQ(writers_in_access_list(bytes, 5), std::nullopt);
  EXPECT_EQ(writers_in_access_list({}, 5), std::nullopt);
}

#if defined(__linux__)
TEST_F(LoaderTrust, AccessControlListsAreChecked) {
  const auto set_list = [&](const std::vector<std::byte>& list) {
    return setxattr(root().c_str(), "system.posix_acl_access", list.data(), list.size(), 0) == 0;
  };
  if (!set_list(access_list(7, 7))) {
    EXPECT_EQ(errno, EOPNOTSUPP);  // the file system has no ACLs
    return;
  }
  expect_unsafe(root(), describe({Writer::Kind::user, stranger}));
  EXPECT_TRUE(set_list(access_list(7, 5)));
  expect_loaded();
}
#endif

}  // namespace
}  // namespace ferrule::test
