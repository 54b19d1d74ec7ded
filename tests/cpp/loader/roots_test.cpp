// Search roots, repeated loads, loading one file, unloading, reloading.
#include "loader_fixture.h"

#include "core/platform/libraries/dynamic_library.h"
#include "core/platform/libraries/library_paths.h"

#include <barrier>
#include <thread>

namespace ferrule::test {
namespace {

using LoaderRoots = LoaderTest;

TEST_F(LoaderRoots, BackendDirIsAListOfFoldersInOrder) {
  put(root("a"), "t_plain");
  put(root("b"), "t_plain");
  put(root("b"), "t_two");
  const Variable dirs("FERRULE_BACKEND_DIR", root("a").string() + PATH_SEPARATOR PATH_SEPARATOR + root("b").string());
  const LoadReport report = load_all();
  ASSERT_GE(report.roots.size(), 2u);
  EXPECT_EQ(report.roots[0].path, root("a"));
  EXPECT_EQ(report.roots[1].path, root("b"));
  EXPECT_EQ(report.roots[1].candidates, 2u);
  EXPECT_EQ(report.loaded("t_plain")->root, root("a"));
  EXPECT_NE(report.loaded("t_two"), nullptr);
}

TEST_F(LoaderRoots, DirsReplaceTheDefaultRoots) {
  put(root("a"), "t_plain");
  put(root("b"), "t_two");
  const Variable dirs("FERRULE_BACKEND_DIR", root("a"));
  const LoadReport report = load_from({root("b")});
  EXPECT_EQ(report.roots.size(), 1u);
  EXPECT_EQ(report.loaded("t_plain"), nullptr);
  EXPECT_NE(report.loaded("t_two"), nullptr);
  EXPECT_TRUE(load_from({}).roots.empty());
}

TEST_F(LoaderRoots, BackendPathIsTheFirstRootAlsoUnderDirs) {
  const fs::path named = put(root("named"), "t_pair-low");
  put_with_manifest(root(), "t_pair-high", {{"rank", 100}});
  const Variable files("FERRULE_BACKEND_PATH", named);
  const LoadReport report = load_from({root()});
  EXPECT_EQ(report.loaded("t_pair")->path, named);
  EXPECT_EQ(report.roots.at(0).origin, "FERRULE_BACKEND_PATH");
}

TEST_F(LoaderRoots, MissingExplicitFolderIsNotFound) {
  EXPECT_EQ(error_of([&] { load_from({folder_ / "absent"}); }).code(), FE_NOT_FOUND);
  const Variable dirs("FERRULE_BACKEND_DIR", folder_ / "absent");
  Lines lines;
  EXPECT_EQ(load_all().roots.at(0).problem, "there is no such folder");
  EXPECT_CONTAINS(lines.text, "absent: there is no such folder");
}

TEST_F(LoaderRoots, RelativePathsInVariablesAreRefused) {
  put(root(), "t_plain");
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  {
    Lines lines;
    const Variable dirs("FERRULE_BACKEND_DIR", "root"),
        files("FERRULE_BACKEND_PATH", "root/libferrule-t_plain" MODULE_ENDING);
    const LoadReport report = load_all();
    EXPECT_EQ(report.loaded("t_plain"), nullptr);
    EXPECT_CONTAINS(row(report, "t_plain").reason, "must be absolute");
    EXPECT_CONTAINS(lines.text, "a path must be absolute");
  }
  EXPECT_NE(load_from({"root"}).loaded("t_plain"), nullptr);
  fs::current_path(before);
}

TEST_F(LoaderRoots, CurrentDirectoryIsNeverSearched) {
  put(root(), "t_plain");
  put(root("root/backends"), "t_two");
  const fs::path before = fs::current_path();
  fs::current_path(root());
  const Variable dirs("FERRULE_BACKEND_DIR", PATH_SEPARATOR);
  const LoadReport report = load_all();
  fs::current_path(before);
  EXPECT_EQ(report.loaded("t_plain"), nullptr);
  EXPECT_EQ(report.loaded("t_two"), nullptr);
}

TEST_F(LoaderRoots, FolderGivenTwiceIsOneRoot) {
  put(root(), "t_plain");
  EXPECT_EQ(load_from({root(), root() / ".." / "root"}).roots.size(), 1u);
#if !defined(_WIN32)  // links need rights there
  fs::create_directory_symlink(root(), folder_ / "link");
  EXPECT_EQ(load_from({root(), folder_ / "link"}).roots.size(), 1u);
#endif
}

TEST_F(LoaderRoots, ExtraRootsComeLastAndMayBeMissing) {
  put(root(), "t_plain");
  LoadOptions options;
  options.extra_roots = {folder_ / "absent", root()};
  const LoadReport report = load_all(options);
  EXPECT_EQ(report.roots.back().path, root());
  EXPECT_NE(report.loaded("t_plain"), nullptr);
}

TEST_F(LoaderRoots, LoadingTwiceOpensOnce) {
  put(root(), "t_plain");
  load_from({root()});
  const auto backend = Registry::instance().find_backend("t_plain");
  forget_notes();
  const LoadReport again = load_from({root()});
  EXPECT_EQ(again.loaded("t_plain")->devices, std::vector<std::string>{"t_plain:0"});
  EXPECT_EQ(Registry::instance().find_backend("t_plain"), backend);
  EXPECT_EQ(notes(), "");
  EXPECT_NE(load_from({}).loaded("t_plain"), nullptr) << "the report tells what is loaded, wherever it came from";
}

TEST_F(LoaderRoots, EightThreadsLoadEachNameOnce) {
  put_with_manifest(root(), "t_pair-low", {{"rank", 1}});
  put_with_manifest(root(), "t_pair-high", {{"rank", 2}});
  put(root(), "t_two");
  std::barrier together(8);
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      together.arrive_and_wait();
      const LoadReport report = load_from({root()});
      EXPECT_NE(report.loaded("t_pair"), nullptr);
      EXPECT_NE(report.loaded("t_two"), nullptr);
      EXPECT_EQ(Registry::instance().by_name("t_two:1")->index(), 1u);
    });
  for (std::thread& thread : threads) thread.join();
  const std::string text = notes();
  for (const std::string once : {"opened t_pair-high\n", "initialised t_pair-high\n", "initialised t_two\n"}) {
    EXPECT_CONTAINS(text, once);
    EXPECT_EQ(text.find(once), text.rfind(once)) << text;
  }
  EXPECT_FALSE(noted("opened t_pair-low")) << text;
}

TEST_F(LoaderRoots, UnloadClosesAndTheNextLoadOpensAgain) {
  const fs::path module = put(root(), "t_plain");
  const auto backend = load(module);
  EXPECT_EQ(load(module), backend);
  Registry::instance().by_name("t_plain")->open();
  Registry::instance().unload("T_PLAIN");
  EXPECT_TRUE(noted("device closed t_plain"));
  EXPECT_TRUE(noted("closed t_plain"));
  EXPECT_FALSE(DynamicLibrary::is_open(module));
  EXPECT_EQ(error_of([] { Registry::instance().unload("t_plain"); }).code(), FE_NOT_FOUND);
  EXPECT_NE(load(module), backend);
}

TEST_F(LoaderRoots, SecondFileOfALoadedNameIsRefused) {
  load(put(root("a"), "t_pair-low"));
  const fs::path other = put(root("b"), "t_pair-high");
  const Error error = error_of([&] { load(other); });
  EXPECT_EQ(error.code(), FE_INVALID_ARGUMENT);
  EXPECT_CONTAINS(std::string(error.what()), "a backend named t_pair is loaded already");
  EXPECT_CONTAINS(row(load_from({root("b")}), "t_pair-high").reason,
                  "libferrule-t_pair-low" MODULE_ENDING " is loaded already");
}

TEST_F(LoaderRoots, ReloadUsesTheNewFile) {
  const fs::path module = put(root(), "t_version");
  EXPECT_EQ(load(module)->version(), "1");
  put(root(), "t_version.next", "t_version");
  EXPECT_EQ(reload("t_version")->version(), "2");
  EXPECT_EQ(Registry::instance().find_backend("t_version")->version(), "2");
  EXPECT_EQ(reload("t_version")->version(), "2") << "also when nothing has changed";
}

TEST_F(LoaderRoots, FailedReloadKeepsTheOldModule) {
  const fs::path module = put(root(), "t_version");
  const auto backend = load(module);
  write_file(root() / "new", "edited too much");
  move_into_place(root() / "new", module);
  EXPECT_EQ(error_of([] { reload("t_version"); }).code(), FE_IO);
  EXPECT_EQ(Registry::instance().find_backend("t_version"), backend);
}

TEST_F(LoaderRoots, ReloadRefusesAFileRewrittenInPlace) {
  const fs::path module = put(root(), "t_version");
  const auto backend = load(module);
  fs::last_write_time(module, fs::last_write_time(module) + std::chrono::seconds(5));
  const Error error = error_of([] { reload("t_version"); });
  EXPECT_EQ(error.code(), FE_UNSUPPORTED);
  EXPECT_CONTAINS(std::string(error.what()), "rewritten in place");
  EXPECT_FALSE(backend->is_closed());
}

TEST_F(LoaderRoots, ReloadReportsThatTheOldCodeStaysMapped) {
  const fs::path module = put(root(), "t_version");
  load(module);
  const auto other_user = DynamicLibrary::open(module);
  put(root(), "t_version.next", "t_version");
  const Error error = error_of([] { reload("t_version"); });
  EXPECT_EQ(error.code(), FE_UNSUPPORTED);
  EXPECT_CONTAINS(std::string(error.what()), "keeps its code mapped");
}

TEST_F(LoaderRoots, ReloadOfAnUnloadedNameIsNotFound) {
  EXPECT_EQ(error_of([] { reload("t_version"); }).code(), FE_NOT_FOUND);
}

TEST_F(LoaderRoots, ReportIsReadableAsTextAndAsJson) {
  put_with_manifest(root(), "t_pair-low", {{"rank", 10}});
  put_with_manifest(root(), "t_pair-high", {{"rank", 200}});
  put(root(), "t_major");
  const LoadReport report = load_from({root()});
  const std::string text = to_text(report);
  EXPECT_CONTAINS(text, root().string() + " (dirs)\n");
  EXPECT_CONTAINS(text, "  t_pair-high  loaded         200");
  EXPECT_CONTAINS(text, "  t_pair-low   outranked       10");
  const auto json = nlohmann::json::parse(to_json(report));
  const nlohmann::json* first = nullptr;
  for (const auto& row : json["candidates"])
    if (row["name"] == "t_pair" && row["variant"] == "high") first = &row;
  ASSERT_NE(first, nullptr);
  EXPECT_EQ((*first)["state"], "loaded");
  EXPECT_EQ((*first)["rank"], 200);
  EXPECT_EQ((*first)["score"], nullptr);
  EXPECT_EQ((*first)["devices"], nlohmann::json({"t_pair:0"}));
  EXPECT_GT((*first)["milliseconds"], 0.0);
  EXPECT_EQ(json["roots"][0]["candidates"], 3);
}

TEST_F(LoaderRoots, ExecutableAndLibraryFoldersAreFound) {
#if defined(__linux__)
  EXPECT_EQ(executable_dir(), fs::canonical("/proc/self/exe").parent_path());
#endif
  EXPECT_TRUE(fs::exists(executable_dir() / fs::path(testing::internal::GetArgvs().at(0)).filename()));
  EXPECT_EQ(library_dirs(), std::vector{executable_dir()}) << "these tests contain the core";
}

}  // namespace
}  // namespace ferrule::test
