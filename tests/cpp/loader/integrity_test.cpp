// The loader runs exactly the bytes that it verified, and knows the libraries installed beside a module.
#include "loader_fixture.h"
#include "other_process.h"

#include "core/loader/candidate/candidate.h"
#include "core/loader/open_module.h"
#include "core/loader/search/find_candidates.h"
#include "core/loader/search/read_candidate.h"
#include "core/loader/trust/file_hash.h"
#include "core/platform/libraries/dynamic_library.h"
#include "core/platform/libraries/mapped_libraries.h"
#include "core/platform/libraries/mapping_origin.h"
#include "module_file/file_bytes.h"
#include "module_file/own_libraries.h"
#include "module_file/read_image.h"
#include "module_file/run_paths.h"
#include "module_file/sha256.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace ferrule::test {
namespace {

using module_file::FileBytes;
using module_file::Links;

class LoaderIntegrity : public LoaderTest {
 protected:
  // Judges a module without opening it.
  static Candidate read(const fs::path& path) {
    Candidate candidate = candidate_at(path);
    TrustCheck trust(Trust::owner);
    read_candidate(candidate, trust);
    EXPECT_FALSE(candidate.is_refused) << candidate.row.reason;
    return candidate;
  }
  static bool opens(Candidate& candidate) {
    const Prober prober(policy_of("load_all", "manifest", "never", "owner", false));
    return open_module(candidate, prober).has_value();
  }
  void expect_replaced(Candidate& candidate) {
    EXPECT_FALSE(opens(candidate));
    EXPECT_EQ(candidate.row.state, LoadState::error);
    EXPECT_CONTAINS(candidate.row.reason, "replaced");
    EXPECT_FALSE(noted("asked t_score-3"));
  }
  // Long enough ago that the clock's resolution does not matter.
  static void settle(const fs::path& path) {
    while (fs::file_time_type::clock::now() - fs::last_write_time(path) < std::chrono::milliseconds(2100))
      usleep(100'000);
  }
};

TEST_F(LoaderIntegrity, FileReplacedAfterItWasReadIsAnError) {
  const fs::path module = put(root(), "t_score-3");
  Candidate candidate = read(module);
  put(root(), "t_score-7", "t_score-3");
  expect_replaced(candidate);
  EXPECT_EQ(notes(), "");
}

TEST_F(LoaderIntegrity, FileRewrittenAfterItWasReadIsAnError) {
  const fs::path module = put(root(), "t_score-3");
  Candidate candidate = read(module);
  const std::string bytes = text_of_file(module);
  const auto time = fs::last_write_time(module);
  write_file(module, bytes);
  fs::last_write_time(module, time);  // the change time (ctime) cannot be set
  expect_replaced(candidate);
  EXPECT_EQ(notes(), "");
}

TEST_F(LoaderIntegrity, FileReplacedByAPipeIsRefusedWithoutBlocking) {
  const fs::path module = put(root(), "t_score-3");
  Candidate candidate = read(module);
  fs::remove(module);
  ASSERT_EQ(mkfifo(module.c_str(), 0600), 0);
  EXPECT_FALSE(opens(candidate));
  EXPECT_CONTAINS(candidate.row.reason, "it is a pipe");
}

// The system's loader compares file names, so it may map another file under the name of the verified one.
TEST_F(LoaderIntegrity, MappingOfAnotherFileIsFoundBeforeAnythingIsCalled) {
  const fs::path module = put(root(), "t_score-3");
  const auto held = DynamicLibrary::open(module);
  const fs::path real = fs::canonical(module);
  FileBytes before(real, Links::refuse);
  EXPECT_EQ(is_mapped_from(held->address(), before.descriptor()), std::optional(true));
  fs::rename(module, root() / "old");
  put(root(), "t_score-7", "t_score-3");
  FileBytes after(real, Links::refuse);
  ASSERT_TRUE(after.is_open());
  EXPECT_EQ(is_mapped_from(held->address(), after.descriptor()), std::optional(false));
  EXPECT_EQ(is_mapped_from(held->address(), before.descriptor()), std::optional(true));
}

TEST_F(LoaderIntegrity, KernelQueryAndMapsFileAgree) {
  const fs::path module = put(root(), "t_plain"), other = put(root(), "t_two");
  const auto library = DynamicLibrary::open(module);
  FileBytes same(module), another(other);
  for (const auto& ask : {is_mapped_from, is_listed_from}) {
    EXPECT_EQ(ask(library->address(), same.descriptor()), std::optional(true));
    EXPECT_EQ(ask(library->address(), another.descriptor()), std::optional(false));
    EXPECT_EQ(ask(&module, same.descriptor()), std::optional(false));  // the stack is not file-backed
    EXPECT_EQ(ask(nullptr, same.descriptor()), std::nullopt);
    EXPECT_EQ(ask(library->address(), -1), std::nullopt);
  }
}

TEST_F(LoaderIntegrity, DescriptorsAreClosed) {
  const auto count = [] { return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator()); };
  put_with_manifest(root(), "t_plain", {});
  put(root(), "t_two");
  put(root(), "t_zero");
  load_from({root()});
  const auto before = count();
  for (int i = 0; i < 3; ++i) {
    Registry::instance().unload("t_plain");
    load_from({root()});
  }
  EXPECT_EQ(count(), before);
}

TEST_F(LoaderIntegrity, NonRegularFileIsNamedByItsKind) {
  EXPECT_EQ(FileBytes(root()).problem(), "it is a folder, not a regular file");
  EXPECT_EQ(FileBytes("/dev/null").problem(), "it is a device, not a regular file");
  EXPECT_CONTAINS(FileBytes(root() / "absent").problem(), "it cannot be read: ");
  fs::create_symlink(put(root(), "t_plain"), root() / "link");
  EXPECT_EQ(FileBytes(root() / "link", Links::refuse).problem(), "it is a link, not a regular file");
  EXPECT_TRUE(FileBytes(root() / "link").is_open());
  EXPECT_FALSE(FileBytes(root() / "absent").identity());
}

TEST_F(LoaderIntegrity, HashedBytesAreThoseOfTheOpenedFile) {
  write_file(folder_ / "file", "first");
  FileBytes file(folder_ / "file");
  fs::rename(folder_ / "file", folder_ / "old");
  write_file(folder_ / "file", "second text");
  EXPECT_EQ(file.text(), "first");
  EXPECT_NE(file.identity(), FileBytes(folder_ / "file").identity());
  char byte = 'x';
  EXPECT_FALSE(file.read(5, &byte, 1));
  EXPECT_FALSE(file.read(UINT64_MAX, &byte, 1));
  EXPECT_TRUE(file.read(5, nullptr, 0)) << "nothing, from the end";
  fs::resize_file(folder_ / "old", 2);
  EXPECT_FALSE(file.text());
  EXPECT_FALSE(module_file::sha256_of(file));
}

TEST_F(LoaderIntegrity, HashesOfUnchangedFilesAreCachedAcrossProcesses) {
  const fs::path path = folder_ / "large";
  write_file(path, std::string(200'000, 'x'));
  const std::string right = *module_file::sha256_of_file(path);
  const auto hash = [&] {
    FileBytes file(path);
    return hash_of(file, path);
  };
  // A file written a moment ago may be written again within the resolution of the clock.
  EXPECT_EQ(hash(), right);
  EXPECT_FALSE(fs::exists(folder_ / "cache"));
  settle(path);
  const auto hash_is = [&](const std::string& wanted) {
    return in_processes(1, [&](int) { return hash() == wanted; });
  };
  EXPECT_TRUE(hash_is(right));
  ASSERT_TRUE(fs::exists(folder_ / "cache"));
  // Replacing the cached hash shows that the cached one is used.
  const auto changed_at = FileBytes(path).identity();
  const fs::path entry = fs::directory_iterator(folder_ / "cache")->path();
  fs::remove(entry);
  EXPECT_TRUE(hash_is(right));
  EXPECT_TRUE(fs::exists(entry));
  EXPECT_EQ(FileBytes(path).identity(), changed_at);
  write_file(entry, "rubbish");
  EXPECT_TRUE(hash_is(right));
  write_file(path, std::string(200'000, 'y'));
  EXPECT_TRUE(hash_is(*module_file::sha256_of_file(path)));
  EXPECT_NE(hash(), right);
}

TEST_F(LoaderIntegrity, RowListsTheMappedFiles) {
  const fs::path module = put(root(), "t_plain");
  fs::create_symlink(module, root("links") / module.filename());
  const LoadReport report = load_from({root("links")});
  ASSERT_FALSE(row(report, "t_plain").files.empty());
  EXPECT_EQ(row(report, "t_plain").files.at(0), module.string());
}

TEST(LoaderMappedFiles, ListsFilesMappedSinceTheSnapshot) {
  const MappedLibraries before;
  EXPECT_TRUE(before.names_of_new().empty());
  const auto library = DynamicLibrary::open(built("t_plain"));
  const std::vector<std::string> names = before.names_of_new();
  ASSERT_FALSE(names.empty());
  EXPECT_EQ(names.at(0), built("t_plain"));
  EXPECT_TRUE(MappedLibraries().names_of_new().empty());
}

module_file::Image image(std::vector<std::string> libraries, std::vector<std::string> run_paths) {
  module_file::Image image;
  image.libraries = std::move(libraries);
  image.run_paths = std::move(run_paths);
  return image;
}

TEST(LoaderRunPaths, RelativeRunPathsAreReported) {
  for (const char* good : {"", "$ORIGIN", "${ORIGIN}/../lib", "/opt/lib:$ORIGIN/lib"})
    EXPECT_EQ(module_file::complaint_about_relative_paths(image({"libm.so.6"}, {good})), "") << good;
  for (const char* bad : {"lib", ".", ":/opt/lib", "/opt/lib:", "/opt/lib::$ORIGIN", "$ORIGINAL", "$LIB", "../lib"})
    EXPECT_CONTAINS(module_file::complaint_about_relative_paths(image({}, {bad})), "from the current directory");
  EXPECT_CONTAINS(module_file::complaint_about_relative_paths(image({"./libmine.so"}, {})), "it needs './libmine.so'");
  EXPECT_EQ(module_file::complaint_about_relative_paths(image({"/opt/libmine.so", "$ORIGIN/libmine.so"}, {})), "");
  EXPECT_EQ(module_file::folders_of_run_paths(image({}, {"$ORIGIN/../lib:/opt:relative"}), "/m"),
            (std::vector<fs::path>{"/m/../lib", "/opt"}));
}

TEST_F(LoaderIntegrity, LibrariesAndRunPathsAreReadFromElf) {
  const module_file::Image found = module_file::read_image(built("t_relative"));
  EXPECT_EQ(found.run_paths, std::vector<std::string>{"lib:$ORIGIN"});
  EXPECT_NE(std::find(found.libraries.begin(), found.libraries.end(), "libc.so.6"), found.libraries.end());
}

// A module with its two libraries in the layout of an installation, and the resulting report.
class LoaderOwnLibraries : public LoaderTest {
 protected:
  LoaderOwnLibraries() : module_(put(root(), "t_needy")) {
    for (const char* name : {"libt_outer.so", "libt_inner.so"})
      fs::copy_file(fs::path(FERRULE_TEST_MODULES) / name, root() / name);
  }
  LoadRow loaded_row(const std::string& trust, const nlohmann::json& libraries) {
    if (Registry::instance().find_backend("t_needy")) Registry::instance().unload("t_needy");
    forget_notes();
    write_manifest(module_, {{"libraries", libraries}});
    LoadOptions options;
    options.dirs = {{root()}};
    options.policy = policy_of("load_all", "manifest", "never", trust, false);
    return row(load_all(options), "t_needy");
  }
  nlohmann::json right() const {
    nlohmann::json hashes;
    for (const char* name : {"libt_outer.so", "libt_inner.so"})
      hashes[name] = *module_file::sha256_of_file(root_ / name);
    return hashes;
  }
  nlohmann::json with(const std::string& name, const std::string& hash) const {
    nlohmann::json hashes = right();
    hashes[name] = hash;
    return hashes;
  }
  nlohmann::json without(const std::string& name) const {
    nlohmann::json hashes = right();
    hashes.erase(name);
    return hashes;
  }
  const fs::path root_ = folder_ / "root";
  const fs::path module_;
};

TEST_F(LoaderOwnLibraries, ListMatchesTheLibrariesThatOpeningLoads) {
  const auto found = module_file::OwnLibraries::of(module_file::read_image(module_), root_);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].name, "libt_outer.so");
  EXPECT_EQ(found[1].name, "libt_inner.so");
  const LoadRow loaded = loaded_row("owner", right());
  EXPECT_EQ(loaded.state, LoadState::loaded) << loaded.reason;
  EXPECT_TRUE(noted("opened t_outer"));
  EXPECT_TRUE(noted("opened t_inner"));
}

TEST_F(LoaderOwnLibraries, ManifestHashPolicyRequiresAHashForEach) {
  EXPECT_EQ(loaded_row("manifest-hash", right()).state, LoadState::loaded);
  for (const char* name : {"libt_outer.so", "libt_inner.so"}) {
    const LoadRow refused = loaded_row("manifest-hash", without(name));
    EXPECT_EQ(refused.state, LoadState::unsafe) << name;
    EXPECT_CONTAINS(refused.reason,
                    std::string("opening it opens ") + name + ", which comes with it, but its manifest has no SHA-256");
    EXPECT_EQ(notes(), "");
    EXPECT_EQ(loaded_row("owner", without(name)).state, LoadState::loaded);
    EXPECT_EQ(error_of([&] {
                loaded_row("manifest-hash", without(name));
                load(module_, policy_of("load_all", "manifest", "never", "manifest-hash", false));
              }).code(),
              FE_UNSUPPORTED);
  }
  const LoadRow absent = loaded_row("manifest-hash", with("libt_absent.so", std::string(64, '0')));
  EXPECT_EQ(absent.state, LoadState::unsafe);
  EXPECT_CONTAINS(absent.reason, "its manifest has the SHA-256 of libt_absent.so, which does not exist");
  EXPECT_EQ(loaded_row("owner", with("libt_absent.so", std::string(64, '0'))).state, LoadState::loaded);
}

TEST_F(LoaderOwnLibraries, WrongHashIsFoundBeforeAnythingIsOpened) {
  for (const char* trust : {"owner", "manifest-hash", "any"})
    for (const char* name : {"libt_outer.so", "libt_inner.so"}) {
      const LoadRow refused = loaded_row(trust, with(name, std::string(64, '0')));
      EXPECT_EQ(refused.state, LoadState::error) << name;
      EXPECT_CONTAINS(refused.reason, std::string("the SHA-256 of ") + name + ", which comes with it, is not the one");
      EXPECT_EQ(notes(), "");
    }
}

TEST_F(LoaderOwnLibraries, LibraryChangedDuringTheProbeIsNotOpened) {
  write_manifest(module_, {{"libraries", right()}});
  LoadOptions options;
  options.dirs = {{root()}};
  options.policy = policy_of("load_all", "manifest", "always", "owner", false);
  {
    const Variable touches("FERRULE_TEST_TOUCHES", (root_ / "libt_inner.so").c_str());
    const LoadRow refused = row(load_all(options), "t_needy");
    EXPECT_EQ(refused.state, LoadState::error);
    EXPECT_CONTAINS(refused.reason, "replaced");
    EXPECT_EQ(refused.probed, "yes");
  }
  const std::string of_the_probe = notes();
  EXPECT_EQ(of_the_probe.find("opened t_inner"), of_the_probe.rfind("opened t_inner")) << of_the_probe;
  // The verdict belongs to an earlier file.
  const LoadRow loaded = row(load_all(options), "t_needy");
  EXPECT_EQ(loaded.state, LoadState::loaded) << loaded.reason;
  EXPECT_EQ(loaded.probed, "yes");
}

TEST_F(LoaderOwnLibraries, LibraryWritableByOthersIsUnsafe) {
  for (const char* name : {"libt_outer.so", "libt_inner.so"}) {
    fs::permissions(root_ / name, fs::perms::others_write, fs::perm_options::add);
    EXPECT_EQ(loaded_row("owner", right()).state, LoadState::unsafe) << name;
    EXPECT_EQ(notes(), "");
    fs::permissions(root_ / name, fs::perms::others_write, fs::perm_options::remove);
  }
}

TEST_F(LoaderOwnLibraries, ManifestWriterListsThem) {
  const std::string command = fmt::format("{} {}", FERRULE_TEST_MANIFEST_WRITER, module_.string());
  ASSERT_EQ(std::system(command.c_str()), 0);  // NOLINT(bugprone-command-processor)
  const auto manifest = [&] {
    return nlohmann::json::parse(text_of_file(fs::path(module_).replace_extension(".json")));
  };
  EXPECT_EQ(manifest()["libraries"], right());
  // Includes libraries named by a run path, and files that are added later.
  fs::create_directory(root_ / "lib");
  fs::rename(root_ / "libt_inner.so", root_ / "lib" / "libt_inner.so");
  write_file(folder_ / "libt_later.so.1", "text");
  const std::string with_library = command + " --library " + (folder_ / "libt_later.so.1").string();
  ASSERT_EQ(std::system(with_library.c_str()), 0);  // NOLINT(bugprone-command-processor)
  EXPECT_EQ(manifest()["libraries"].size(), 2u) << "no run path leads to lib";
  EXPECT_EQ(manifest()["libraries"]["libt_later.so.1"], *module_file::sha256_of_file(folder_ / "libt_later.so.1"));
}

TEST_F(LoaderOwnLibraries, ManifestWithInvalidHashesIsRefused) {
  EXPECT_CONTAINS(loaded_row("owner", {{"libt_outer.so", "abc"}}).reason, "is not 64 hexadecimal digits");
  EXPECT_CONTAINS(loaded_row("owner", {{"libt_outer.so", 7}}).reason, "'libt_outer.so' is not a string");
  EXPECT_CONTAINS(loaded_row("owner", nlohmann::json::array({"libt_outer.so"})).reason,
                  "'libraries' is not an object of hashes");
}

TEST(LoaderRunPaths, FoldersFromOriginAreFound) {
  EXPECT_EQ(module_file::origin_folders({"$ORIGIN/../lib:/opt:relative", "${ORIGIN}"}, "/m"),
            (std::vector<fs::path>{"/m/../lib", "/m"}));
}

TEST_F(LoaderIntegrity, RelativeRunPathIsUnsafe) {
  const fs::path module = put(root(), "t_relative");
  const LoadRow refused = row(load_from({root()}), "t_relative");
  EXPECT_EQ(refused.state, LoadState::unsafe);
  EXPECT_CONTAINS(refused.reason, "its run path 'lib:$ORIGIN' names 'lib'");
  EXPECT_FALSE(noted("opened t_relative"));
  const Policy any = policy_of("load_all", "manifest", "never", "any", false);
  EXPECT_EQ(load(module, any)->name(), "t_relative");
}

}  // namespace
}  // namespace ferrule::test
