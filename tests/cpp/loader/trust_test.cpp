// A module that can be written by a user who cannot write libferrule is not opened.
#include "loader_fixture.h"

#include "core/platform/files/file_writers.h"
#include "other_process.h"

#include <sys/stat.h>
#if defined(__linux__)
#include <sched.h>
#include <sys/mount.h>
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
    options.policy = policy_of("load_all", "manifest", "never", trust, false);
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

TEST_F(LoaderTrust, GroupIsPrivateIfItIsTheUsersOwnAndListsNobodyElse) {
  const std::string users = "root:x:0:0::/:/bin/sh\nanna:x:1000:1000::/:/bin/sh\ncarl:x:1002:1002::/:/bin/sh\n";
  if (geteuid() != 0 || !with_accounts(folder_, users, "root:x:0:\n", [] { return true; }))
    GTEST_SKIP() << "only root may change the databases";
  const auto state_with = [&](const std::string& passwd, const std::string& group) {
    for (const LoadState state : {LoadState::loaded, LoadState::unsafe})
      if (with_accounts(folder_, passwd, group, [&] {
            return setegid(1000) == 0 && seteuid(1000) == 0 && row(load_with("owner"), "t_plain").state == state;
          }))
        return state;
    return LoadState::error;
  };
  // A file that the user built with umask 002.
  for (const fs::path& path : {module_, manifest_, root(), folder_}) {
    ASSERT_EQ(chown(path.c_str(), 1000, 1000), 0);
    set_mode(path, fs::is_directory(path) ? 0775 : 0664);
  }
  EXPECT_EQ(state_with(users, "root:x:0:\nanna:x:1000:\n"), LoadState::loaded);
  EXPECT_EQ(state_with(users, "root:x:0:\nanna:x:1000:anna\n"), LoadState::loaded);
  EXPECT_EQ(state_with(users, "root:x:0:\nanna:x:1000:anna,carl\n"), LoadState::unsafe);
  EXPECT_EQ(state_with(users, "root:x:0:\n"), LoadState::unsafe) << "a group without an entry";
  const std::string without_anna = "root:x:0:0::/:/bin/sh\n";
  EXPECT_EQ(state_with(without_anna, "root:x:0:\nanna:x:1000:\n"), LoadState::unsafe);
  const std::string of_staff = "root:x:0:0::/:/bin/sh\nanna:x:1000:50::/:/bin/sh\n";
  EXPECT_EQ(state_with(of_staff, "root:x:0:\nstaff:x:1000:\n"), LoadState::unsafe) << "her first group is another";
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
    load(module_, policy_of("load_all", "manifest", "never", "owner", false));
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
  const Variable misspelt("FERRULE_TRUST", "anny");
  const Lines lines;
  EXPECT_EQ(loaded_row("").state, LoadState::unsafe);
  EXPECT_CONTAINS(lines.text, "FERRULE_TRUST is 'anny', and must be one of: owner, manifest-hash, any; using owner");
}

TEST_F(LoaderTrust, ManifestHashPolicyRefusesModulesWithoutManifest) {
  EXPECT_EQ(loaded_row("manifest-hash").state, LoadState::loaded);
  fs::remove(manifest_);
  const LoadRow refused = loaded_row("manifest-hash");
  EXPECT_EQ(refused.state, LoadState::unsafe);
  EXPECT_CONTAINS(refused.reason, "it has no manifest libferrule-t_plain.json");
  EXPECT_EQ(error_of([&] { load(module_, policy_of("load_all", "manifest", "never", "manifest-hash", false)); }).code(),
            FE_UNSUPPORTED);
  EXPECT_EQ(loaded_row("owner").state, LoadState::loaded);
  write_manifest(module_, {});
  set_mode(module_, 0777);
  EXPECT_EQ(loaded_row("manifest-hash").state, LoadState::unsafe);
}

}  // namespace
}  // namespace ferrule::test
