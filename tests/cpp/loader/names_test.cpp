// Arbitrary file names, one file under several names, and reasons for missing devices.
#include "loader_fixture.h"

#include "core/loader/report/explain.h"
#include "core/registry/missing_device.h"
#include "core/registry/option_variables.h"
#include "module_file/abi_version.h"
#include "module_file/sha256.h"

namespace ferrule::test {
namespace {

class LoaderGivenNames : public LoaderTest {
 protected:
  fs::path put_as(const std::string& stem, const std::string& file_name) {
    fs::path to = root() / file_name;
    fs::copy_file(built(stem), to, fs::copy_options::overwrite_existing);
    return to;
  }
  static std::shared_ptr<Backend> load_as(const fs::path& path, const std::string& name) {
    return load(path, default_policy(), name);
  }
  static std::string reason_of_load(const fs::path& path, const std::string& name = "") {
    return error_of([&] { load_as(path, name); }).what();
  }
  Registry& registry = Registry::instance();
};

TEST_F(LoaderGivenNames, ExplicitFileMayHaveAnyName) {
  for (const char* name :
       {"mine" MODULE_ENDING, "mine", "libferrule-Odd Name" MODULE_ENDING, "libferrule-t_two" MODULE_ENDING ".1"}) {
    const fs::path path = put_as("t_plain", name);
    const auto backend = load(path);
    EXPECT_EQ(backend->name(), "t_plain") << name;
    EXPECT_EQ(backend->file(), path.string());
    EXPECT_EQ(load(path), backend) << "it is there already";
    registry.unload("t_plain");
  }
  put_as("t_plain", "mine" MODULE_ENDING);
  EXPECT_TRUE(load_from({root()}).rows.empty() || !registry.find_backend("t_plain")) << "a folder is searched by names";
}

TEST_F(LoaderGivenNames, ExplicitFileKeepsItsVariantAndCanBeDisabled) {
  const fs::path path = put_as("t_pair-low", "mine" MODULE_ENDING);
  EXPECT_EQ(load(path)->full_name(), "t_pair-low");
  registry.unload("t_pair");
  const Variable disable("FERRULE_DISABLE", "t_pair");
  EXPECT_EQ(error_of([&] { load(path); }).code(), FE_UNSUPPORTED);
  EXPECT_CONTAINS(reason_of_load(path), "FERRULE_DISABLE names it");
  EXPECT_EQ(registry.find_backend("t_pair"), nullptr);
}

TEST_F(LoaderGivenNames, GivenNameOverridesTheFileName) {
  const fs::path path = put_as("t_plain", "libferrule-t_plain" MODULE_ENDING);
  const Variable disable("FERRULE_DISABLE", "t_plain");
  EXPECT_EQ(load_as(path, "t_mine")->name(), "t_mine");
  registry.unload("t_mine");
  EXPECT_CONTAINS(reason_of_load(path), "FERRULE_DISABLE names it");
}

TEST_F(LoaderGivenNames, ManifestProvidesTheNameWithoutOpeningTheModule) {
  const fs::path path = put_as("t_plain", "mine" MODULE_ENDING);
  const nlohmann::json manifest = {
      {"name", "t_plain"},
      {"abi",
       {{"major", module_file::own_abi().major},
        {"minor", module_file::own_abi().minor},
        {"layout_hashes", {fmt::format("{:#018x}", module_file::own_abi().layout_hash())}}}},
      {"sha256", *module_file::sha256_of_file(path)},
      {"size", fs::file_size(path)}};
  write_file(root() / "mine.json", manifest.dump());
  {
    const Variable disable("FERRULE_DISABLE", "t_plain");
    EXPECT_CONTAINS(reason_of_load(path), "FERRULE_DISABLE names it");
    EXPECT_EQ(notes(), "");
  }
  EXPECT_EQ(load(path)->name(), "t_plain");
  registry.unload("t_plain");
  nlohmann::json odd = manifest;
  odd["name"] = "No Name";
  write_file(root() / "mine.json", odd.dump());
  EXPECT_CONTAINS(reason_of_load(path), "'name' is 'No Name', and a backend's name consists of");
}

TEST_F(LoaderGivenNames, OneFileUnderTwoNamesGivesTwoBackends) {
  const fs::path path = put(root(), "t_named");
  const auto first = load_as(path, "t_first"), second = load_as(path, "t_second"), own = load(path);
  EXPECT_EQ(first->name(), "t_first");
  EXPECT_EQ(second->name(), "t_second");
  EXPECT_EQ(own->name(), "t_named");
  EXPECT_EQ(load_as(path, "t_first"), first);
  EXPECT_EQ(registry.by_name("t_second:1")->backend(), second);
  // Each copy has its own static variables: a device lost in one is present in the others.
  ASSERT_NE(first->table().get_proc, nullptr);
  void* const remove = first->table().get_proc("remove_device");
  reinterpret_cast<void (*)()>(remove)();
  registry.refresh();
  EXPECT_EQ(first->devices().size(), 2u);
  EXPECT_EQ(second->devices().size(), 3u);
  EXPECT_EQ(own->devices().size(), 3u);
  // Each copy is unloaded separately and leaves no file and no mapping.
  for (const char* name : {"t_second", "t_named", "t_first"}) registry.unload(name);
  EXPECT_TRUE(registry.remaining().empty());
#if defined(__linux__)
  EXPECT_FALSE(contains(text_of_file("/proc/self/maps"), "libferrule-t_named"));
#endif
}

TEST_F(LoaderGivenNames, CopiesLeaveNoFiles) {
#if defined(_WIN32)
  constexpr const char* variable = "TMP";
#else
  constexpr const char* variable = "TMPDIR";
#endif
  const Variable temporary(variable, root("temporary"));
  const fs::path path = put(root(), "t_plain");
  load(path);
  load_as(path, "t_other");
#if !defined(_WIN32)  // which removes no file that is mapped
  EXPECT_TRUE(fs::is_empty(root("temporary")));
#endif
  registry.unload("t_other");
  EXPECT_TRUE(fs::is_empty(root("temporary")));
  const Variable nowhere(variable, folder_ / "nowhere");
  EXPECT_CONTAINS(reason_of_load(path, "t_other"), "no folder for a copy of it could be made in ");
}

TEST_F(LoaderGivenNames, DisableAppliesToTheGivenName) {
  const fs::path path = put(root(), "t_plain");
  const Variable disable("FERRULE_DISABLE", "t_other");
  EXPECT_CONTAINS(reason_of_load(path, "t_other"), "FERRULE_DISABLE names it");
  EXPECT_EQ(load_as(path, "t_another")->name(), "t_another");
}

TEST_F(LoaderGivenNames, TakenOrInvalidGivenNameIsAnError) {
  const fs::path path = put(root(), "t_plain"), other = put(root(), "t_two");
  load(path);
  EXPECT_EQ(error_of([&] { load_as(other, "t_plain"); }).code(), FE_INVALID_ARGUMENT);
  EXPECT_CONTAINS(reason_of_load(other, "t_plain"), "a backend named t_plain is loaded already, from " + path.string());
  EXPECT_CONTAINS(reason_of_load(other, "T Two"), "as_name is 'T Two'");
}

TEST_F(LoaderGivenNames, ReloadKeepsTheGivenName) {
  const fs::path path = put(root(), "t_version");
  load_as(path, "t_mine");
  put(root(), "t_version.next", "t_version");
  const auto now = reload("t_mine");
  EXPECT_EQ(now->name(), "t_mine");
  EXPECT_EQ(now->version(), "2");
}

TEST_F(LoaderGivenNames, NonModuleFileIsReportedByItsKind) {
  write_file(root() / "mine.txt", "hello");
  EXPECT_CONTAINS(reason_of_load(root() / "mine.txt"), "it is a text file that begins with 'hello'");
  EXPECT_CONTAINS(reason_of_load(root()), "it is a folder");
}

TEST_F(LoaderGivenNames, DeviceKindsMissingFromTheManifestAreANote) {
  put_with_manifest(root(), "t_plain", {{"device_kinds", {"gpu", "cpu"}}});
  put_with_manifest(root(), "t_two", {{"device_kinds", {"test", "gpu"}}});
  put_with_manifest(root(), "t_gpu", nlohmann::json::object());
  const LoadReport report = load_from({root()});
  const LoadRow other = row(report, "t_plain");
  EXPECT_EQ(other.state, LoadState::loaded);
  ASSERT_EQ(other.notes.size(), 1u);
  EXPECT_EQ(other.notes[0], "it has devices of kind test, but its manifest lists only devices of kind gpu, cpu");
  EXPECT_TRUE(row(report, "t_two").notes.empty()) << "a machine need not have all";
  EXPECT_TRUE(row(report, "t_gpu").notes.empty()) << "what tells nothing is not wrong";
}

TEST_F(LoaderGivenNames, VariablesThatNameNoOptionOrHaveAWrongValueAreNotes) {
  put(root(), "t_two");
  const Variable misspelt("FERRULE_T_TWO_DELYA", "5"), wrong("FERRULE_T_TWO_MEMORY", "much");
  const Variable unknown("FERRULE_T_TWO_ARCHITECTURE", "8"), empty("FERRULE_T_TWO_DELAYS", "");
  const std::vector<std::string> notes = {
      "FERRULE_T_TWO_ARCHITECTURE is set, and t_two has no option of that name",
      "FERRULE_T_TWO_DELYA is set, and t_two has no option of that name; did you mean FERRULE_T_TWO_DELAY?",
      "FERRULE_T_TWO_MEMORY is 'much', and must be an integer"};
  const Lines log;
  EXPECT_EQ(row(load_from({root()}), "t_two").notes, notes);
  EXPECT_EQ(row(load_from({root()}), "t_two").notes, notes) << "of a backend that is loaded already, too";
  // One warning, of what is certainly wrong.
  for (const std::string& certain : {notes[1], notes[2]}) {
    EXPECT_CONTAINS(log.text, "load_all: " + certain);
    EXPECT_EQ(log.text.find(certain), log.text.rfind(certain)) << log.text;
  }
  EXPECT_FALSE(contains(log.text, notes[0])) << log.text;
  EXPECT_FALSE(registry.by_name("t_two")->is_open());
}

TEST(OptionVariables, VariablesOfOtherBackendsAndOfTheCoreAreNoOptions) {
  const Variable own("FERRULE_T_DELAY", "1"), of_another("FERRULE_T_TWO_DELAY", "1");
  EXPECT_EQ(option_variables("t", {"t", "t_two"}), std::vector<std::string>{"FERRULE_T_DELAY"});
  EXPECT_EQ(option_variables("t_two", {"t", "t_two"}), std::vector<std::string>{"FERRULE_T_TWO_DELAY"});
  const Variable timeout("FERRULE_PROBE_TIMEOUT", "20");
  EXPECT_EQ(option_variables("probe", {}), std::vector<std::string>());
}

TEST(OptionVariables, ValuesOfKnownTypesAreChecked) {
  const auto complaint = [](const char* type, const char* value) {
    return complaint_about_value({"key", type, ""}, value);
  };
  for (const char* value : {"0", "-1", "9223372036854775807"}) EXPECT_EQ(complaint("integer", value), "") << value;
  for (const char* value : {"", "1e9", "0x1", "1 ", "9223372036854775808"})
    EXPECT_EQ(complaint("integer", value), fmt::format("is '{}', and must be an integer", value));
  for (const char* value : {"0", "1", "true", "false"}) EXPECT_EQ(complaint("boolean", value), "") << value;
  for (const char* value : {"maybe", "True", "2"})
    EXPECT_EQ(complaint("boolean", value), fmt::format("is '{}', and must be true or false, or 1 or 0", value));
  EXPECT_EQ(complaint("text", "maybe"), "");
}

TEST(RegistryAbsence, MissingDevicesAreExplainedWithACause) {
  const std::vector<KnownModule> found = {{"cpu", "disabled", "FERRULE_ONLY does not name it"},
                                          {"vulkan", "no_device", ""}};
  EXPECT_CONTAINS(reason_for_no_device({}), "nothing has been loaded yet; load_all() looks for modules");
  {
    const Variable off("FERRULE_AUTOLOAD", "0");
    EXPECT_CONTAINS(reason_for_no_device({}), "FERRULE_AUTOLOAD=0 keeps");
  }
  EXPECT_CONTAINS(reason_for_no_device(std::vector<KnownModule>{}), "no module was found");
  EXPECT_EQ(reason_for_no_device(found), "cpu is disabled: FERRULE_ONLY does not name it; vulkan found no device");
  {
    const Variable only("FERRULE_ONLY", "Cpy, metal");
    EXPECT_EQ(reason_for_no_device(found),
              "nothing matches FERRULE_ONLY=cpy,metal; found are cpu, vulkan; did you mean 'cpu'?");
  }
  {
    const Variable only("FERRULE_ONLY", "something");
    EXPECT_EQ(reason_for_no_device(found), "nothing matches FERRULE_ONLY=something; found are cpu, vulkan");
  }
  {
    const Variable only("FERRULE_ONLY", "vulkan");
    EXPECT_CONTAINS(reason_for_no_device(found), "vulkan found no device");
  }
  EXPECT_EQ(reason_for_no_backend(found, "cpu"), "cpu is disabled: FERRULE_ONLY does not name it");
  EXPECT_EQ(reason_for_no_backend(found, "cuda"), "no module named cuda was found");
  EXPECT_EQ(reason_for_no_backend(found, "cpuu"), "did you mean 'cpu'?");
  EXPECT_EQ(reason_for_no_backend(found, "npu"), "no module named npu was found");
  EXPECT_EQ(reason_for_no_backend({}, "cpu"), "");
}

TEST(RegistryAbsence, DisabledNamesThatNoBackendHasGiveAWarning) {
  const std::vector<KnownModule> found = {{"cpu", "loaded", ""}, {"npu", "no_device", ""}};
  const auto warning = [&](const char* disabled) {
    const Variable disable("FERRULE_DISABLE", disabled);
    return warning_of_disabled(found);
  };
  EXPECT_EQ(warning("CPU, npu"), "");
  EXPECT_EQ(warning("cuda metal"), "") << "they are backends, although they are not installed";
  EXPECT_EQ(warning("something"), "FERRULE_DISABLE names something, but no such backend was found; found: cpu, npu");
  EXPECT_EQ(
      warning("vulcan,junk"),
      "FERRULE_DISABLE names vulcan, junk, but no such backend was found; found: cpu, npu; did you mean 'vulkan'?");
  const Variable disable("FERRULE_DISABLE", "junk");
  EXPECT_EQ(warning_of_disabled({}), "") << "nothing was loaded yet";
}

TEST(RegistryAbsence, MissingKindIsExplainedByTheModulesThatMayDriveIt) {
  const std::vector<KnownModule> found = {{"cpu", "loaded", "", {"cpu"}},
                                          {"cuda", "incompatible", "the driver is not installed", {"gpu"}},
                                          {"other", "loaded", "", {}},
                                          {"unknown", "error", "it is damaged", {}},
                                          {"vulkan", "loaded", "", {"gpu", "software"}}};
  EXPECT_EQ(reason_for_no_kind(found, "gpu"),
            "cuda is incompatible: the driver is not installed; unknown does not work: it is damaged; vulkan drives no "
            "device "
            "of that kind");
  EXPECT_EQ(reason_for_no_kind(std::vector<KnownModule>{found[0]}, "remote"),
            "no module for devices of the kind remote was found");
  EXPECT_EQ(reason_for_no_kind({}, "gpu"), "");
}

TEST_F(LoaderGivenNames, MissingKindIsExplainedWithTheReasonOfItsModules) {
  put(root(), "t_two");
  put_with_manifest(root(), "t_gpu", {{"device_kinds", {"gpu"}}, {"driver", {"libno_such_driver.so.9"}}});
  const LoadReport report = load_from({root()});
  const std::string why = "its driver's library libno_such_driver.so.9 is not on this machine";
  for (const char* name : {"gpu", "GPU:0"})
    EXPECT_CONTAINS(std::string(error_of([&] { registry.by_name(name); }).what()), "; t_gpu is incompatible: " + why);
  EXPECT_CONTAINS(std::string(error_of([&] { registry.by_kind(FE_DEVICE_GPU); }).what()),
                  "; t_gpu is incompatible: " + why);
  EXPECT_CONTAINS(explain(report, FE_DEVICE_GPU), "; t_gpu: " + (root() / "libferrule-t_gpu" MODULE_ENDING).string() +
                                                      " is there, but it cannot run here: " + why + ".");
  EXPECT_FALSE(contains(error_of([&] { registry.by_name("test:7"); }).what(), "t_gpu")) << "there are such devices";
  EXPECT_FALSE(contains(explain(report, FE_DEVICE_REMOTE), "t_gpu"));
}

TEST_F(LoaderGivenNames, MissingDeviceIsExplainedWithTheReasonOfItsModule) {
  put(root(), "t_two");
  put(root(), "t_plain");
  const Variable disable("FERRULE_DISABLE", "t_plain");
  load_from({root()});
  EXPECT_CONTAINS(std::string(error_of([&] { registry.by_name("t_plain:0"); }).what()),
                  "; t_plain is disabled: FERRULE_DISABLE names it");
  EXPECT_FALSE(contains(error_of([&] { registry.by_name("t_two:7"); }).what(), "t_two is"));
}

}  // namespace
}  // namespace ferrule::test
