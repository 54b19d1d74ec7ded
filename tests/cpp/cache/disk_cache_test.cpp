// The on-disk cache: stored entries, and that a cache in any state is harmless.
#include "loader_fixture.h"
#include "other_process.h"

#include "core/cache/disk_cache.h"
#include "core/registry/host_table.h"

#include <ferrule/cache.h>

#if !defined(_WIN32)
#include <csignal>
#include <sys/resource.h>
#include <sys/stat.h>
#endif

namespace ferrule::test {
namespace {

class DiskCache : public LoaderTest {
 protected:
  DiskCache() : cache_(folder_ / "cache") {}

  std::vector<fs::path> entries() const {
    std::vector<fs::path> found;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(cache_, none)) found.push_back(entry.path());
    return found;
  }
  // The only file of a cache that holds one entry.
  fs::path entry() const {
    EXPECT_EQ(entries().size(), 1u);
    return entries().at(0);
  }
  static std::optional<std::string> got(const std::string& key = "key") { return disk_cache::get("test", key); }

  fs::path cache_;
};

TEST_F(DiskCache, ReturnsStoredEntries) {
  EXPECT_EQ(got(), std::nullopt);
  EXPECT_TRUE(entries().empty());
  std::string text = "text with \n lines, ";
  text += std::string("\0 zeros", 7) + std::string(60'000, 'x');
  disk_cache::put("test", "key", text);
  EXPECT_EQ(got(), text);
  disk_cache::put("test", "key", "");
  EXPECT_EQ(got(), "");
  EXPECT_EQ(got("other"), std::nullopt);
  EXPECT_EQ(disk_cache::get("hash", "key"), std::nullopt);
  EXPECT_EQ(entries().size(), 1u);
}

#if !defined(_WIN32)  // the folder that they are in says who can read them
TEST_F(DiskCache, FilesAreAccessibleToThisUserOnly) {
  const mode_t before = umask(0);
  disk_cache::put("test", "key", "text");
  umask(before);
  EXPECT_EQ(fs::status(cache_).permissions(), fs::perms::owner_all);
  EXPECT_EQ(fs::status(entry()).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}
#endif

TEST_F(DiskCache, OversizedEntriesAreNotStored) {
  disk_cache::put("test", "key", std::string(64 * 1024, 'x'));
  EXPECT_EQ(got(), std::nullopt);
  EXPECT_TRUE(entries().empty());
}

const fe_cache& cache_of_modules() { return *static_cast<const fe_cache*>(host_table()->get_proc(FE_CACHE)); }

std::optional<std::string> got_by_module(const char* kind, const std::string& key) {
  std::optional<std::string> text;
  const auto found = [](void* out, const void* bytes, size_t size) {
    static_cast<decltype(text)*>(out)->emplace(static_cast<const char*>(bytes), size);
  };
  const int is_there = cache_of_modules().get(kind, key.data(), key.size(), found, &text);
  EXPECT_EQ(is_there == 1, text.has_value());
  return text;
}

bool put_by_module(const char* kind, const std::string& key, const std::string& bytes) {
  return cache_of_modules().put(kind, key.data(), key.size(), bytes.data(), bytes.size()) == 1;
}

TEST_F(DiskCache, KeepsEntriesOfModules) {
  EXPECT_EQ(got_by_module("programs", "device"), std::nullopt);
  const std::string program(3 << 20, '\xff');
  EXPECT_TRUE(put_by_module("programs", "device", program));
  EXPECT_EQ(got_by_module("programs", "device"), program);
  EXPECT_EQ(got_by_module("programs", "other device"), std::nullopt);
  EXPECT_EQ(got_by_module("others", "device"), std::nullopt);
  EXPECT_EQ(disk_cache::get("programs", "device"), std::nullopt) << "a module could say what ferrule itself believes";
  EXPECT_TRUE(put_by_module("programs", "", ""));
  EXPECT_EQ(got_by_module("programs", ""), "");
  EXPECT_FALSE(put_by_module("programs", "device", std::string(64 << 20, 'x')));
  EXPECT_EQ(got_by_module("programs", "device"), program);
}

TEST_F(DiskCache, KeepsTheLastSixteenModuleEntriesAndAllCoreEntries) {
  disk_cache::put("test", "key", "text");
  for (int i = 0; i < 40; ++i) EXPECT_TRUE(put_by_module("programs", std::to_string(i), "bytes"));
  EXPECT_LE(entries().size(), 18u);
  EXPECT_EQ(got(), "text");
  EXPECT_EQ(got_by_module("programs", "39"), "bytes");
}

TEST_F(DiskCache, ArgumentsOfModulesAreChecked) {
  const fe_cache& cache = cache_of_modules();
  EXPECT_EQ(cache.struct_size, sizeof cache);
  for (const char* kind :
       {static_cast<const char*>(nullptr), "", "../x", "Upper", "a b", "a_word_that_is_longer_than_32_letters"}) {
    EXPECT_EQ(cache.put(kind, "key", 3, "bytes", 5), 0) << (kind ? kind : "null");
    EXPECT_EQ(cache.get(
                  kind, "key", 3, [](void*, const void*, size_t) { FAIL(); }, nullptr),
              0);
  }
  EXPECT_EQ(cache.put("programs", nullptr, 3, "bytes", 5), 0);
  EXPECT_EQ(cache.put("programs", "key", 3, nullptr, 5), 0);
  EXPECT_TRUE(entries().empty());
  ASSERT_EQ(cache.put("programs", nullptr, 0, nullptr, 0), 1);
  EXPECT_EQ(cache.get("programs", nullptr, 0, nullptr, nullptr), 0);
  EXPECT_EQ(host_table()->get_proc("no extension"), nullptr);
  EXPECT_EQ(host_table()->get_proc(nullptr), nullptr);
}

TEST_F(DiskCache, FileOfAnotherKeyIsIgnored) {
  disk_cache::put("test", "another key", "text");
  const fs::path another = entry();
  disk_cache::put("test", "key", "text");
  for (const fs::path& file : entries())
    if (file != another) fs::copy_file(another, file, fs::copy_options::overwrite_existing);
  EXPECT_EQ(got(), std::nullopt);
  EXPECT_EQ(got("another key"), "text");
}

TEST_F(DiskCache, DamagedFilesAreIgnoredAndReplaced) {
  disk_cache::put("test", "key", "text");
  const fs::path file = entry();
  const std::string whole = text_of_file(file);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    write_file(file, whole.substr(0, i));
    EXPECT_EQ(got(), std::nullopt) << i;
    std::string flipped = whole;
    flipped[i] = static_cast<char>(flipped[i] ^ 1);
    write_file(file, flipped);
    EXPECT_EQ(got(), std::nullopt) << i;
  }
  write_file(file, whole + std::string(100'000, 'x'));
  EXPECT_EQ(got(), std::nullopt);
  disk_cache::put("test", "key", "new");
  EXPECT_EQ(got(), "new");
}

TEST_F(DiskCache, NonRegularFilesAreIgnoredWithoutBlocking) {
  disk_cache::put("test", "key", "text");
  const fs::path file = entry();
#if !defined(_WIN32)  // links need rights there, and pipes are no files
  const fs::path elsewhere = folder_ / "elsewhere";
  fs::rename(file, elsewhere);
  fs::create_symlink(elsewhere, file);
  EXPECT_EQ(got(), std::nullopt);
  fs::remove(file);
  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  EXPECT_EQ(got(), std::nullopt);
  disk_cache::put("test", "key", "new");
  EXPECT_EQ(got(), "new");
#endif
  fs::remove(file);
  fs::create_directory(file);
  EXPECT_EQ(got(), std::nullopt);
  disk_cache::put("test", "key", "new");
  EXPECT_EQ(got(), std::nullopt);
  EXPECT_EQ(entries().size(), 1u);  // no unfinished file stays
}

#if !defined(_WIN32)  // users, modes and limits of POSIX
TEST_F(DiskCache, FolderOwnedOrWritableByOthersIsNotUsed) {
  disk_cache::put("test", "key", "text");
  const fs::path file = entry();
  for (const fs::path& path : {cache_, file}) {
    const fs::perms before = fs::status(path).permissions();
    for (const fs::perms others : {fs::perms::group_write, fs::perms::others_write}) {
      fs::permissions(path, others, fs::perm_options::add);
      EXPECT_EQ(got(), std::nullopt) << path;
      fs::permissions(path, before);
      EXPECT_EQ(got(), "text");
    }
    if (geteuid() != 0) continue;
    ASSERT_EQ(chown(path.c_str(), 65534, 65534), 0);
    EXPECT_EQ(got(), std::nullopt) << path;
    ASSERT_EQ(chown(path.c_str(), 0, 0), 0);
  }
  fs::permissions(cache_, fs::perms::others_write, fs::perm_options::add);
  disk_cache::put("test", "second", "text");
  EXPECT_EQ(entries().size(), 1u);
  fs::rename(cache_, folder_ / "real");
  fs::permissions(folder_ / "real", fs::perms::owner_all);
  fs::create_directory_symlink(folder_ / "real", cache_);
  EXPECT_EQ(got(), std::nullopt);
}

TEST_F(DiskCache, FolderBelowAWorldWritableFolderIsNotUsed) {
  const fs::path above = folder_ / "above", cache = above / "below" / "cache";
  const Variable named("FERRULE_CACHE_DIR", cache);
  disk_cache::put("test", "key", "text");
  ASSERT_EQ(got(), "text");
  for (const fs::path& path : {folder_, above, above / "below"}) {
    const fs::perms before = fs::status(path).permissions();
    fs::permissions(path, fs::perms::others_write, fs::perm_options::add);
    EXPECT_EQ(got(), std::nullopt) << path;
    EXPECT_FALSE(disk_cache::put("test", "second", "text")) << path;
    fs::permissions(path, fs::perms::sticky_bit, fs::perm_options::add);
    EXPECT_EQ(got(), "text") << "nobody takes away what is ours in " << path;
    fs::permissions(path, before);
    if (geteuid() != 0) continue;
    ASSERT_EQ(chown(path.c_str(), 65534, 65534), 0);
    EXPECT_EQ(got(), std::nullopt) << path;
    ASSERT_EQ(chown(path.c_str(), 0, 0), 0);
  }
  EXPECT_EQ(got(), "text");
  EXPECT_EQ(got("second"), std::nullopt);
}

TEST_F(DiskCache, RootCreatesNoFolderInTheHomeOfAUser) {
  fs::create_directory(folder_ / "home");
  const Variable unnamed("FERRULE_CACHE_DIR", nullptr), elsewhere("XDG_CACHE_HOME", nullptr);
  const Variable home("HOME", folder_ / "home");
  if (geteuid() == 0) {
    ASSERT_EQ(chown((folder_ / "home").c_str(), 65534, 65534), 0);
    disk_cache::put("test", "key", "text");
    EXPECT_TRUE(fs::is_empty(folder_ / "home"));
    ASSERT_EQ(chown((folder_ / "home").c_str(), 0, 0), 0);
  }
  disk_cache::put("test", "key", "text");
  EXPECT_EQ(got(), "text");
}

TEST_F(DiskCache, ReadOnlyFolderIsHarmless) {
  disk_cache::put("test", "key", "text");
  fs::permissions(folder_, fs::perms::owner_all | fs::perms::others_exec);
  fs::permissions(cache_, fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_TRUE(as_ordinary_user(cache_, [&] {
    disk_cache::put("test", "key", "new");
    disk_cache::put("test", "second", "text");
    return got() == "text" && !got("second") && entries().size() == 1;
  }));
  fs::permissions(cache_, fs::perms::none);
  EXPECT_TRUE(as_ordinary_user(cache_, [&] {
    disk_cache::put("test", "key", "new");
    return !got();
  }));
}

// Simulates a full disk: only part of the file is written.
TEST_F(DiskCache, FullDiskKeepsTheOldEntryAndLeavesNoOtherFile) {
  disk_cache::put("test", "key", "text");
  EXPECT_TRUE(in_processes(1, [&](int) {
    const rlimit limit{1000, 1000};
    if (signal(SIGXFSZ, SIG_IGN) == SIG_ERR || setrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
    disk_cache::put("test", "key", std::string(10'000, 'x'));
    return got() == "text" && entries().size() == 1;
  }));
}
#endif

TEST_F(DiskCache, EvictsTheOldestEntriesAtItsBound) {
  for (int i = 0; i < 513; ++i) disk_cache::put("test", std::to_string(i), "text");
  ASSERT_EQ(entries().size(), 513u);
  disk_cache::put("test", "one more", "text");
  EXPECT_EQ(entries().size(), 513u - 128u + 1u);
  EXPECT_EQ(got("one more"), "text");
  EXPECT_EQ(got("512"), "text");
  EXPECT_EQ(got("0"), std::nullopt);
}

TEST_F(DiskCache, TemporaryFilesOfDeadProcessesAreRemoved) {
  disk_cache::put("test", "key", "text");
  const fs::path old = cache_ / "0123456789abcdef.unfinished", young = cache_ / "fedcba9876543210.unfinished";
  write_file(old, "half");
  write_file(young, "half");
  write_file(cache_ / "notes.txt", "not ours");
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(1));
  fs::last_write_time(cache_ / "notes.txt", fs::file_time_type::clock::now() - std::chrono::hours(1));
  disk_cache::put("test", "key", "text");
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(young));
  EXPECT_TRUE(fs::exists(cache_ / "notes.txt"));
}

TEST_F(DiskCache, ManyProcessesMayWriteAtOnce) {
  EXPECT_TRUE(in_processes(8, [&](int process) {
    for (int round = 0; round < 60; ++round) {
      // All processes write the same keys, with values long enough that a torn entry would be seen.
      const std::string key = std::to_string(round % 3);
      disk_cache::put("test", key, key + std::string(20'000, 'x'));
      if (got(key) != key + std::string(20'000, 'x')) return false;
      const std::string own = std::to_string(process) + "/" + std::to_string(round);
      disk_cache::put("test", own, own);
      if (got(own) != own) return false;
    }
    return true;
  }));
  EXPECT_EQ(entries().size(), 3u + 8u * 60u);
}

TEST_F(DiskCache, FolderFollowsTheVariableOrTheSystemDefault) {
  EXPECT_EQ(disk_cache::folder(), cache_);
  const Variable relative("FERRULE_CACHE_DIR", "cache");
  EXPECT_EQ(disk_cache::folder(), fs::path());
  disk_cache::put("test", "key", "text");
  EXPECT_EQ(got(), std::nullopt);
  EXPECT_FALSE(fs::exists("cache"));
  const Variable unnamed("FERRULE_CACHE_DIR", "");
#if defined(_WIN32)
  const Variable local("LOCALAPPDATA", folder_ / "local");
  EXPECT_EQ(disk_cache::folder(), folder_ / "local" / "ferrule");
  disk_cache::put("test", "key", "text");
  EXPECT_TRUE(fs::is_directory(folder_ / "local" / "ferrule"));
  for (const char* none : {"", "relative"}) {
    const Variable without("LOCALAPPDATA", none);
    EXPECT_EQ(disk_cache::folder(), fs::path()) << none;
  }
#else
  const Variable home("HOME", folder_), elsewhere("XDG_CACHE_HOME", folder_ / "xdg");
#if !defined(__APPLE__)
  EXPECT_EQ(disk_cache::folder(), folder_ / "xdg" / "ferrule");
  disk_cache::put("test", "key", "text");
  EXPECT_TRUE(fs::is_directory(folder_ / "xdg" / "ferrule"));
  const Variable nowhere("XDG_CACHE_HOME", "relative");
  EXPECT_EQ(disk_cache::folder(), folder_ / ".cache" / "ferrule");
#else
  EXPECT_EQ(disk_cache::folder(), folder_ / "Library" / "Caches" / "ferrule");
#endif
  for (const fs::path& no_home : {fs::path(), fs::path("home"), folder_ / "missing"}) {
    const Variable without("HOME", no_home);
    EXPECT_EQ(disk_cache::folder(), fs::path()) << no_home;
  }
#endif
}

}  // namespace
}  // namespace ferrule::test
