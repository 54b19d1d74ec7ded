// Information about drivers that is read before any of their files is opened.
#include "loader_fixture.h"

#include "core/loader/driver.h"
#include "core/loader/find.h"
#include "core/loader/driver_files.h"
#include "core/loader/manifest.h"
#include "core/loader/read.h"
#include "sdk/tools/driver_interfaces.h"

namespace ferrule::test {
namespace {

TEST(LoaderDriver, LibrariesAreFoundWithoutOpeningThem) {
  EXPECT_TRUE(find_library("libc.so.6"));
  for (const char* absent : {"libc.so.600", "ibc.so.6", "/nowhere/libc.so.6", "", "../libc.so.6", "."})
    EXPECT_FALSE(find_library(absent)) << absent;
  EXPECT_TRUE(find_library("/proc/self/exe"));
}

TEST(LoaderDriver, VersionsCompareByTheirNumbers) {
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
    Candidate candidate = candidate_at(root() / ("libferrule-" + module + ".so"));
    TrustCheck trust(Trust::owner);
    read_candidate(candidate, trust);
    EXPECT_FALSE(candidate.is_refused) << candidate.row.reason;
    return libraries_state(candidate);
  }
  bool changes_with_a_vulkan_driver(const std::string& module) {
    const Variable data("XDG_DATA_DIRS", (folder_ / "data").string());
    fs::remove_all(folder_ / "data");
    const std::string before = state(module);
    fs::create_directories(folder_ / "data/vulkan/icd.d");
    write_file(folder_ / "data/vulkan/icd.d/t.json", "{}");
    return state(module) != before;
  }
  const Variable path_{"LD_LIBRARY_PATH", (folder_ / "lib").string()};
};

TEST_F(LoaderDriverFiles, DriverThatIsTooOldIsIncompatible) {
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

TEST_F(LoaderDriverFiles, VersionFileGoesBeforeTheNameOfTheLibrary) {
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

TEST_F(LoaderDriverFiles, NameThatTellsNoVersionIsNotJudged) {
  fs::copy_file("/proc/self/exe", root("lib") / "libt_driver.so.1");
  EXPECT_EQ(row_with_floor("550").state, LoadState::loaded);
  EXPECT_EQ(driver_version({"libt_driver.so.1", "550", ""}), std::nullopt);
}

TEST_F(LoaderDriverFiles, LibraryOfTheCurrentDirectoryIsNone) {
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
class LoaderVulkanFiles : public LoaderTest {
 protected:
  void put_driver(const fs::path& manifest, const std::string& library) {
    fs::create_directories(manifest.parent_path());
    write_file(manifest, nlohmann::json{{"ICD", {{"library_path", library}}}}.dump());
  }
  void expect_change(const char* what) {
    const std::string now = driver_files_state(tools::driver_interfaces[0]);
    EXPECT_NE(now, state_) << what;
    EXPECT_EQ(driver_files_state(tools::driver_interfaces[0]), now) << what;
    state_ = now;
  }
  std::string state_;
  const Variable no_drivers_{"VK_DRIVER_FILES", nullptr}, no_names_{"VK_ICD_FILENAMES", nullptr},
      no_more_{"VK_ADD_DRIVER_FILES", nullptr}, no_layers_{"VK_LAYER_PATH", nullptr};
  const Variable config_{"XDG_CONFIG_HOME", (folder_ / "config").string()},
      data_{"XDG_DATA_DIRS", (folder_ / "data").string()};
};

TEST_F(LoaderVulkanFiles, DriversAndLayersOfTheStandardFoldersCount) {
  state_ = driver_files_state(tools::driver_interfaces[0]);
  const fs::path driver = folder_ / "data/vulkan/icd.d/t.json", library = folder_ / "data/vulkan/icd.d/libt.so";
  put_driver(driver, "./libt.so");
  expect_change("a driver has come");
  write_file(library, "1");
  expect_change("its library has come");
  write_file(library, "12");
  expect_change("its library is another");
  put_driver(driver, "./libother.so");
  expect_change("it names another library");
  for (const char* folder : {"explicit_layer.d", "implicit_layer.d"})
    for (const fs::path& base : {folder_ / "config", folder_ / "data"}) {
      const fs::path layer = base / "vulkan" / folder / "t.json", of_layer = folder_ / "liblayer.so";
      fs::create_directories(layer.parent_path());
      write_file(layer, nlohmann::json{{"layers", {{{"library_path", of_layer.string()}}}}}.dump());
      expect_change("a layer has come");
      write_file(of_layer, state_);
      expect_change("its library is another");
    }
  fs::remove(driver);
  expect_change("the driver has gone");
}

TEST_F(LoaderVulkanFiles, WhatVariablesNameCounts) {
  const fs::path driver = folder_ / "t.json";
  for (const char* name : {"VK_ICD_FILENAMES", "VK_DRIVER_FILES", "VK_ADD_DRIVER_FILES", "VK_LAYER_PATH"}) {
    const Variable named(name, "/nowhere:" + (name == std::string("VK_LAYER_PATH") ? folder_ : driver).string());
    state_ = driver_files_state(tools::driver_interfaces[0]);
    put_driver(driver, std::string("/nowhere/") + name);
    expect_change(name);
  }
}

TEST_F(LoaderVulkanFiles, WhatIsNoManifestIsHarmless) {
  const fs::path folder = folder_ / "data/vulkan/icd.d";
  fs::create_directories(folder);
  write_file(folder / "text.json", "no JSON");
  write_file(folder / "list.json", "[1]");
  write_file(folder / "odd.json", R"({"ICD": 7, "layer": {"library_path": 7}, "layers": [7, {"library_path": null}]})");
  write_file(folder / "large.json", std::string(2'000'000, '['));
  fs::create_symlink("nowhere", folder / "dangling.json");
  fs::create_directory(folder / "folder.json");
  for (const char* name : {"text", "list", "odd", "large", "dangling", "folder"})
    EXPECT_CONTAINS(driver_files_state(tools::driver_interfaces[0]), (folder / name).string() + ".json");
}

TEST_F(LoaderDriverFiles, VulkanFilesCountForModulesWhoseManifestNamesVulkan) {
  const auto changes_with = [&](const char* driver) {
    row_with({driver});
    return changes_with_a_vulkan_driver("t_plain");
  };
  EXPECT_FALSE(changes_with("libcuda.so.1"));
  for (const char* driver : {"libvulkan.so.1", "libvulkan.1.dylib", "vulkan-1.dll"})
    EXPECT_TRUE(changes_with(driver)) << driver;
}

#if defined(__linux__)
TEST_F(LoaderDriverFiles, VulkanFilesCountForModulesThatAreLinkedWithVulkan) {
  put(root(), "t_plain");
  EXPECT_FALSE(changes_with_a_vulkan_driver("t_plain"));
  const fs::path module = put(root(), "t_draws");
  EXPECT_TRUE(changes_with_a_vulkan_driver("t_draws")) << "it has no manifest";
  write_manifest(module, {{"driver", {"libcuda.so.1"}}});
  EXPECT_TRUE(changes_with_a_vulkan_driver("t_draws")) << "its manifest names another driver";
}

TEST_F(LoaderDriverFiles, LibrariesThatComeWithAModuleCountWithWhatTheyAreLinkedWith) {
  put(root(), "t_lets_draw");
  EXPECT_FALSE(changes_with_a_vulkan_driver("t_lets_draw")) << "its library is not there";
  fs::copy_file(fs::path(FERRULE_TEST_MODULES) / "libt_drawing.so", root() / "libt_drawing.so");
  EXPECT_TRUE(changes_with_a_vulkan_driver("t_lets_draw"));
  const std::string before = state("t_lets_draw");
  fs::copy_file("/proc/self/exe", root("lib") / "libvulkan.so.1");
  EXPECT_NE(state("t_lets_draw"), before) << "the file behind the loader's name is another";
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
            (std::vector<DriverNeed>{{"a.so", "", ""}, {"b.so", "5.1", ""}}));
  EXPECT_CONTAINS(reason("a.so"), "'driver' is not a list of strings and objects");
  EXPECT_CONTAINS(reason({{{"floor", "5"}}}), "'library' is missing");
  EXPECT_CONTAINS(reason({""}), "has no name");
  for (const char* floor : {"", "x", "5..1", ".5", "5.", "5.1-rc"})
    EXPECT_CONTAINS(reason({{{"library", "a"}, {"floor", floor}}}), "not a version like 550.54");
  EXPECT_CONTAINS(reason({{{"library", "a"}, {"version_file", "version"}}}), "must be an absolute path");
}

// A file of a megabyte, the read limit, with the content that is most expensive to parse.
TEST(LoaderManifest, WorstTextsAreRefusedQuickly) {
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
