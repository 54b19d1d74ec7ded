// Information about drivers that is read before any of their files is opened.
#include "loader_fixture.h"

#include "core/loader/candidate/manifest_file.h"
#include "core/loader/probe/libraries_state.h"
#include "core/loader/search/find_candidates.h"
#include "core/loader/search/read_candidate.h"
#include "core/platform/drivers/driver_files.h"
#include "core/platform/drivers/driver_version.h"
#include "core/platform/libraries/library_search.h"

namespace ferrule::test {
namespace {

// A driver that reads files as Vulkan's loader does.
const DriverNeed reading_driver = {.library = "libt_driver.so.1",
                                   .floor = "",
                                   .version_file = "",
                                   .variables = {"T_DRIVER_*", "T_SWITCH"},
                                   .file_variables = {"T_DRIVERS", "T_MORE_DRIVERS", "T_LAYERS"},
                                   .folders = {"t_drivers/icd.d", "t_drivers/layer.d"}};

nlohmann::json entry_of(const DriverNeed& driver) {
  return {{"library", driver.library},
          {"variables", driver.variables},
          {"file_variables", driver.file_variables},
          {"folders", driver.folders},
          {"state_files", driver.state_files}};
}

TEST(LoaderDriver, LibrariesAreFoundWithoutOpeningThem) {
  EXPECT_TRUE(find_library("libc.so.6"));
  for (const char* absent : {"libc.so.600", "ibc.so.6", "/nowhere/libc.so.6", "", "../libc.so.6", "."})
    EXPECT_FALSE(find_library(absent)) << absent;
  EXPECT_TRUE(find_library("/proc/self/exe"));
}

TEST(LoaderDriver, VersionsCompareNumerically) {
  for (const auto& [older, newer] :
       std::vector<std::pair<const char*, const char*>>{{"470.57", "550"},
                                                        {"9", "10"},
                                                        {"550.54", "550.54.14"},
                                                        {"1.2.9", "1.10"},
                                                        {"", "0.1"},
                                                        {"99999999999999999999", "100000000000000000000"}}) {
    EXPECT_TRUE(is_older(older, newer)) << older << " " << newer;
    EXPECT_FALSE(is_older(newer, older)) << older << " " << newer;
  }
  for (const auto& [a, b] :
       std::vector<std::pair<const char*, const char*>>{{"550", "550.0.0"}, {"1.02", "1.2"}, {"", "0"}, {"7.", "7"}}) {
    EXPECT_FALSE(is_older(a, b)) << a << " " << b;
    EXPECT_FALSE(is_older(b, a)) << a << " " << b;
  }
}

class LoaderDriverFiles : public LoaderTest {
 protected:
  // A driver as packages install it: the library's usual name is a link to the versioned file.
  void install(const std::string& version) {
    fs::remove(folder_ / "lib" / "libt_driver.so.1");
    fs::copy_file("/proc/self/exe", root("lib") / ("libt_driver.so." + version), fs::copy_options::overwrite_existing);
    fs::create_symlink("libt_driver.so." + version, folder_ / "lib" / "libt_driver.so.1");
  }
  LoadRow row_with(const nlohmann::json& driver) {
    if (Registry::instance().find_backend("t_plain")) Registry::instance().unload("t_plain");
    put_with_manifest(root(), "t_plain", {{"driver", driver}, {"version", "0.3"}});
    return row(load_from({root()}), "t_plain");
  }
  LoadRow row_with_floor(const std::string& floor) {
    return row_with({{{"library", "libt_driver.so.1"}, {"floor", floor}}});
  }
  std::string state(const std::string& module = "t_plain") {
    Candidate candidate = candidate_at(root() / ("libferrule-" + module + MODULE_ENDING));
    TrustCheck trust(Trust::owner);
    read_candidate(candidate, trust);
    EXPECT_FALSE(candidate.is_refused) << candidate.row.reason;
    return libraries_state(candidate);
  }
  // The file that a driver brings, in a folder that reading_driver reads.
  bool changes_with_a_file_of_a_driver() {
    const Variable data("XDG_DATA_DIRS", (folder_ / "data").string());
    fs::remove_all(folder_ / "data");
    const std::string before = state();
    fs::create_directories(folder_ / "data/t_drivers/icd.d");
    write_file(folder_ / "data/t_drivers/icd.d/t.json", "{}");
    return state() != before;
  }
  const Variable path_{"LD_LIBRARY_PATH", (folder_ / "lib").string()};
};

TEST_F(LoaderDriverFiles, OutdatedDriverIsIncompatible) {
  EXPECT_CONTAINS(row_with_floor("550").reason, "its driver's library libt_driver.so.1 is not on this machine");
  install("470.57");
  const LoadRow old = row_with_floor("550");
  EXPECT_EQ(old.state, LoadState::incompatible);
  EXPECT_EQ(old.reason, "the driver is 470.57 (libt_driver.so.1); it needs 550 or newer");
  EXPECT_EQ(old.version, "0.3");
  EXPECT_FALSE(noted("opened t_plain"));
  EXPECT_EQ(row_with_floor("470.57").state, LoadState::loaded);
  EXPECT_EQ(row_with({"libt_driver.so.1"}).state, LoadState::loaded);
  install("550.54.14");
  EXPECT_EQ(row_with_floor("550").state, LoadState::loaded);
}

TEST_F(LoaderDriverFiles, DriverWithATitleIsNamedByIt) {
  const auto reason = [&](const char* floor) {
    return row_with({{{"library", "libt_driver.so.1"}, {"title", "T driver"}, {"floor", floor}}}).reason;
  };
  EXPECT_EQ(reason("550"),
            "the T driver is not installed: libt_driver.so.1 was not found; install version 550 or newer");
  install("470.57");
  EXPECT_EQ(reason("550"), "the T driver is 470.57 (libt_driver.so.1); it needs 550 or newer");
  EXPECT_EQ(reason("470"), "");
}

#if defined(__linux__)
TEST_F(LoaderDriverFiles, DamagedDriverIsIncompatibleAndNeverOpened) {
  const fs::path library = root("lib") / "libt_driver.so.1";
  const auto reason_of = [&](const std::string& bytes) {
    write_file(library, bytes);
    const LoadRow row = row_with({{{"library", "libt_driver.so.1"}, {"title", "T driver"}}});
    EXPECT_EQ(row.state, LoadState::incompatible);
    const std::string begin = "the T driver is damaged: " + library.string() + ": ", end = "; install it again";
    EXPECT_TRUE(row.reason.starts_with(begin) && row.reason.ends_with(end)) << row.reason;
    return row.reason.substr(begin.size(), row.reason.size() - begin.size() - end.size());
  };
  EXPECT_EQ(reason_of(""), "the file is empty");
  EXPECT_EQ(reason_of("hello\n"), "it is a text file that begins with 'hello'");
  std::string whole = text_of_file(built("t_plain"));
  EXPECT_CONTAINS(reason_of(whole.substr(0, whole.size() / 2)), "the file is truncated: ");
  EXPECT_FALSE(noted("opened t_plain"));
  // The system's loader passes over a library for another machine.
  whole[4] = 1;
  write_file(library, whole);
  EXPECT_EQ(row_with({{{"library", "libt_driver.so.1"}, {"title", "T driver"}}}).reason,
            "the T driver is not installed: libt_driver.so.1 was not found");
}
#endif

TEST_F(LoaderDriverFiles, VersionFileTakesPrecedenceOverTheLibraryName) {
  install("1.0");
  const auto need = [&](const fs::path& file) {
    return nlohmann::json{{{"library", "libt_driver.so.1"}, {"floor", "550"}, {"version_file", file.string()}}};
  };
  write_file(folder_ / "version", "NVRM version: x86_64 Kernel Module  470.57  of some day\n");
  EXPECT_EQ(row_with(need(folder_ / "version")).reason,
            "the driver is 470.57 (libt_driver.so.1); it needs 550 or newer");
  write_file(folder_ / "version", "550.54.14\n");
  EXPECT_EQ(row_with(need(folder_ / "version")).state, LoadState::loaded);
  // Missing information is not an error.
  EXPECT_EQ(row_with(need(folder_ / "absent")).state, LoadState::loaded);
  write_file(folder_ / "version", "no number");
  EXPECT_EQ(row_with(need(folder_ / "version")).state, LoadState::loaded);
  EXPECT_EQ(row_with(need("/dev/zero")).state, LoadState::loaded);
}

TEST_F(LoaderDriverFiles, LibraryNameWithoutVersionIsAccepted) {
  fs::copy_file("/proc/self/exe", root("lib") / "libt_driver.so.1");
  EXPECT_EQ(row_with_floor("550").state, LoadState::loaded);
  EXPECT_EQ(driver_version("libt_driver.so.1", ""), std::nullopt);
}

TEST_F(LoaderDriverFiles, DriverLibraryInTheCurrentDirectoryIsIgnored) {
  install("1.0");
  const fs::path before = fs::current_path();
  fs::current_path(folder_ / "lib");
  const Variable relative("LD_LIBRARY_PATH", ".:lib");
  EXPECT_FALSE(find_library("libt_driver.so.1"));
  fs::current_path(before);
}

TEST_F(LoaderDriverFiles, StateChangesWithTheDriver) {
  install("1.0");
  write_file(folder_ / "version", "1.0");
  const auto refresh = [&] {
    row_with({{{"library", "libt_driver.so.1"}, {"version_file", (folder_ / "version").string()}}});
  };
  refresh();
  const std::string first = state();
  EXPECT_CONTAINS(first, (folder_ / "lib" / "libt_driver.so.1.0").string());
  EXPECT_EQ(state(), first);
  EXPECT_FALSE(contains(first, "libc.so.6"));
  install("2.0");
  const std::string second = state();
  EXPECT_NE(second, first);
  write_file(folder_ / "version", "2.0");
  EXPECT_NE(state(), second);
  fs::remove(folder_ / "lib" / "libt_driver.so.1");
  EXPECT_CONTAINS(state(), "libt_driver.so.1 \n");
}

// Everything that determines what Vulkan's loader lists is part of a verdict's key for a module that uses it.
class LoaderFilesOfDrivers : public LoaderTest {
 protected:
  void put_driver(const fs::path& manifest, const std::string& library) {
    fs::create_directories(manifest.parent_path());
    write_file(manifest, nlohmann::json{{"ICD", {{"library_path", library}}}}.dump());
  }
  void expect_change(const char* what) {
    const std::string now = driver_files_state(reading_driver);
    EXPECT_NE(now, state_) << what;
    EXPECT_EQ(driver_files_state(reading_driver), now) << what;
    state_ = now;
  }
  std::string state_;
  const Variable config_{"XDG_CONFIG_HOME", (folder_ / "config").string()},
      data_{"XDG_DATA_DIRS", (folder_ / "data").string()};
};

TEST_F(LoaderFilesOfDrivers, DriversAndLayersInStandardFoldersArePartOfTheState) {
  state_ = driver_files_state(reading_driver);
  const fs::path driver = folder_ / "data/t_drivers/icd.d/t.json", library = folder_ / "data/t_drivers/icd.d/libt.so";
  put_driver(driver, "./libt.so");
  expect_change("a driver has come");
  write_file(library, "1");
  expect_change("its library has come");
  write_file(library, "12");
  expect_change("its library is another");
  put_driver(driver, "./libother.so");
  expect_change("it names another library");
  for (const fs::path& base : {folder_ / "config", folder_ / "data"}) {
    const fs::path layer = base / "t_drivers/layer.d/t.json", of_layer = folder_ / "liblayer.so";
    fs::create_directories(layer.parent_path());
    write_file(layer, nlohmann::json{{"layers", {{{"library_path", of_layer.string()}}}}}.dump());
    expect_change("a layer has come");
    write_file(of_layer, state_);
    expect_change("its library is another");
  }
  fs::remove(driver);
  expect_change("the driver has gone");
}

TEST_F(LoaderFilesOfDrivers, FilesNamedByVariablesArePartOfTheState) {
  const fs::path driver = folder_ / "t.json";
  for (const char* name : {"T_DRIVERS", "T_MORE_DRIVERS", "T_LAYERS"}) {
    const Variable named(name, "/nowhere:" + (name == std::string("T_LAYERS") ? folder_ : driver).string());
    state_ = driver_files_state(reading_driver);
    put_driver(driver, std::string("/nowhere/") + name);
    expect_change(name);
  }
}

TEST_F(LoaderFilesOfDrivers, InvalidManifestsAreHarmless) {
  const fs::path folder = folder_ / "data/t_drivers/icd.d";
  fs::create_directories(folder);
  write_file(folder / "text.json", "no JSON");
  write_file(folder / "list.json", "[1]");
  write_file(folder / "odd.json", R"({"ICD": 7, "layer": {"library_path": 7}, "layers": [7, {"library_path": null}]})");
  write_file(folder / "large.json", std::string(2'000'000, '['));
  fs::create_symlink("nowhere", folder / "dangling.json");
  fs::create_directory(folder / "folder.json");
  for (const char* name : {"text", "list", "odd", "large", "dangling", "folder"})
    EXPECT_CONTAINS(driver_files_state(reading_driver), (folder / name).string() + ".json");
}

TEST_F(LoaderDriverFiles, DeclaredDriverFilesArePartOfTheDriverState) {
  install("1.0");
  row_with({"libt_driver.so.1"});
  EXPECT_FALSE(changes_with_a_file_of_a_driver());
  row_with(nlohmann::json::array({entry_of(reading_driver)}));
  EXPECT_TRUE(changes_with_a_file_of_a_driver());
}

TEST_F(LoaderDriverFiles, DeclaredVariablesAndStateFilesArePartOfTheDriverState) {
  install("1.0");
  DriverNeed driver = reading_driver;
  driver.state_files = {(folder_ / "kernel_part").string()};
  const auto changes = [&](const nlohmann::json& entry, const auto& change) {
    row_with(nlohmann::json::array({entry}));
    const std::string before = state();
    return change() != before;
  };
  const auto with_variable = [&](const char* name) {
    return [this, name] {
      const Variable variable(name, "1");
      return state();
    };
  };
  const auto with_state_file = [&] {
    write_file(folder_ / "kernel_part", "550.54");
    std::string now = state();
    fs::remove(folder_ / "kernel_part");
    return now;
  };
  for (const char* name : {"T_DRIVER_", "T_DRIVER_DEVICES", "T_SWITCH"}) {
    EXPECT_TRUE(changes(entry_of(driver), with_variable(name))) << name;
    EXPECT_FALSE(changes("libt_driver.so.1", with_variable(name))) << name;
  }
  for (const char* name : {"T_DRIVE", "T_SWITCHES", "OTHER_T_SWITCH"})
    EXPECT_FALSE(changes(entry_of(driver), with_variable(name))) << name;
  EXPECT_TRUE(changes(entry_of(driver), with_state_file));
  EXPECT_FALSE(changes("libt_driver.so.1", with_state_file));
}

#if defined(__linux__)
TEST_F(LoaderDriverFiles, LinkedLibrariesArePartOfTheDriverState) {
  put(root(), "t_draws");
  const std::string before = state("t_draws");
  fs::copy_file("/proc/self/exe", root("lib") / "libvulkan.so.1");
  EXPECT_NE(state("t_draws"), before) << "the file behind the library's name is another";
}

TEST_F(LoaderDriverFiles, BundledLibrariesAndTheirDependenciesArePartOfTheDriverState) {
  put(root(), "t_lets_draw");
  const std::string alone = state("t_lets_draw");
  fs::copy_file(fs::path(FERRULE_TEST_MODULES) / "libt_drawing.so", root() / "libt_drawing.so");
  const std::string before = state("t_lets_draw");
  EXPECT_NE(before, alone) << "its library is there";
  fs::copy_file("/proc/self/exe", root("lib") / "libvulkan.so.1");
  EXPECT_NE(state("t_lets_draw"), before) << "the file behind the name of its library's library is another";
}
#endif

TEST(LoaderManifest, DriversAreReadOrRefusedWithTheReason) {
  const nlohmann::json good = {{"name", "a"},
                               {"abi", {{"major", 0}, {"minor", 0}, {"layout_hashes", {"0x1"}}}},
                               {"sha256", std::string(64, '0')},
                               {"size", 1}};
  const auto with = [&](const nlohmann::json& driver) {
    nlohmann::json object = good;
    object["driver"] = driver;
    return object.dump();
  };
  const auto reason = [&](const nlohmann::json& driver) {
    return std::string(error_of([&] { parse_manifest(with(driver)); }).what());
  };
  EXPECT_EQ(parse_manifest(with({"a.so", {{"library", "b.so"}, {"floor", "5.1"}}})).driver,
            (std::vector<DriverNeed>{{.library = "a.so"}, {.library = "b.so", .floor = "5.1"}}));
  EXPECT_EQ(parse_manifest(with({{{"library", "a.so"}, {"title", "A driver"}}})).driver,
            (std::vector<DriverNeed>{{.library = "a.so", .title = "A driver"}}));
  EXPECT_CONTAINS(reason({{{"library", "a.so"}, {"title", 7}}}), "'title' is not a string");
  EXPECT_EQ(parse_manifest(with(nlohmann::json::array({entry_of(reading_driver)}))).driver,
            std::vector<DriverNeed>{reading_driver});
  EXPECT_CONTAINS(reason("a.so"), "'driver' is not a list of strings and objects");
  EXPECT_CONTAINS(reason({{{"floor", "5"}}}), "'library' is missing");
  EXPECT_CONTAINS(reason({""}), "has no name");
  for (const char* floor : {"", "x", "5..1", ".5", "5.", "5.1-rc"})
    EXPECT_CONTAINS(reason({{{"library", "a"}, {"floor", floor}}}), "not a version like 550.54");
  EXPECT_CONTAINS(reason({{{"library", "a"}, {"version_file", "version"}}}), "must be an absolute path");
  EXPECT_CONTAINS(reason({{{"library", "a"}, {"state_files", {"version"}}}}), "must have absolute paths");
  for (const char* folder : {"", "/etc/drivers"})
    EXPECT_CONTAINS(reason({{{"library", "a"}, {"folders", {folder}}}}), "must have relative paths");
  for (const char* key : {"variables", "file_variables", "folders", "state_files"})
    EXPECT_CONTAINS(reason({{{"library", "a"}, {key, "text"}}}), std::string(key) + "' is not a list of strings");
}

// A file of a megabyte, the read limit, with the content that is most expensive to parse.
TEST(LoaderManifest, WorstCaseTextsAreRefusedQuickly) {
  const auto many_keys = [] {
    std::string text = "{";
    for (int i = 0; text.size() < 1'000'000; ++i) text += fmt::format("\"{}\":0,", i);
    return text + "\"0\":0}";
  };
  const std::pair<std::string, const char*> texts[] = {
      {many_keys(), "\"0\" twice in one object"},
      {std::string(1'000'000, '['), "nests deeper"},
      {"{\"name\": \"" + std::string(500'000, 'x') + "\xc0\x80\"}", "not JSON"},
      {"{\"name\": \"\xed\xa0\x80\"}", "not JSON"},
      {"{\"name\": \"a\", \"n\\u0061me\": \"b\"}", "\"name\" twice in one object"},
  };
  for (const auto& pair : texts) {
    const double begin = seconds_computed();
    EXPECT_CONTAINS(std::string(error_of([&] { parse_manifest(pair.first); }).what()), pair.second);
    EXPECT_LT(seconds_computed() - begin, 5);
  }
}

}  // namespace
}  // namespace ferrule::test
