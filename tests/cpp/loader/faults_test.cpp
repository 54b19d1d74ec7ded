// Faulty files: each gets one row with a reason, and the good modules beside it are loaded.
#include "loader_fixture.h"

#if !defined(_WIN32)
#include <cstring>
#include <sys/stat.h>
#endif

namespace ferrule::test {
namespace {

class LoaderFaults : public LoaderTest {
 protected:
  LoaderFaults() { put(root(), "t_plain"); }

  // The row of the one bad file. Checks that the good file beside it is loaded, and that load(path) reports the same.
  LoadRow bad_row(const std::string& stem) {
    const LoadReport report = load_from({root()});
    EXPECT_EQ(row(report, "t_plain").state, LoadState::loaded) << to_text(report);
    LoadRow bad = row(report, stem);
    EXPECT_NE(bad.state, LoadState::loaded);
    const Error error = error_of([&] { load(bad.path); });
    EXPECT_CONTAINS(std::string(error.what()), bad.reason);
    code = error.code();
    return bad;
  }
  fe_code code = FE_OK;
};

TEST_F(LoaderFaults, TextFile) {
  write_file(root() / "libferrule-t_text" MODULE_ENDING, "hello, I am a text\n");
  const LoadRow bad = bad_row("t_text");
  EXPECT_EQ(bad.state, LoadState::error);
  EXPECT_EQ(bad.reason, "not a module: it is a text file that begins with 'hello, I am '");
}

TEST_F(LoaderFaults, EmptyFile) {
  write_file(root() / "libferrule-t_empty" MODULE_ENDING, "");
  EXPECT_EQ(bad_row("t_empty").reason, "not a module: the file is empty");
}

TEST_F(LoaderFaults, TruncatedFileIsFoundWithoutOpeningIt) {
  const std::string whole = text_of_file(built("t_two"));
  for (const std::size_t size :
       {std::size_t{20}, std::size_t{63}, std::size_t{100}, whole.size() / 2, whole.size() - 1}) {
    write_file(root() / "libferrule-t_two" MODULE_ENDING, whole.substr(0, size));
    const LoadRow bad = bad_row("t_two");
    EXPECT_EQ(bad.state, LoadState::error);
    EXPECT_CONTAINS(bad.reason, "the file is truncated");
    EXPECT_EQ(code, FE_IO);
  }
  EXPECT_FALSE(noted("opened t_two"));
}

TEST_F(LoaderFaults, FileForAnotherMachine) {
  std::string bytes = text_of_file(built("t_two"));
#if defined(_WIN32)
  uint32_t header = 0;
  std::memcpy(&header, bytes.data() + 0x3c, sizeof header);
  bytes[header + 4] = 0x4c, bytes[header + 5] = 0x01;  // 32-bit x86
#else
  bytes[18] = static_cast<char>(bytes[18] == 62 ? 183 : 62);
#endif
  write_file(root() / "libferrule-t_two" MODULE_ENDING, bytes);
  const LoadRow bad = bad_row("t_two");
  EXPECT_EQ(bad.state, LoadState::incompatible);
  EXPECT_CONTAINS(bad.reason, "it is a module for ");
  EXPECT_EQ(code, FE_UNSUPPORTED);
}

TEST_F(LoaderFaults, FileForAnotherSystem) {
#if defined(_WIN32)
  write_file(root() / "libferrule-t_two" MODULE_ENDING,
             "\x7f"
             "ELF" +
                 std::string(200, '\0'));
  EXPECT_EQ(bad_row("t_two").reason, "it is a module for another system (ELF, this one has PE)");
#else
  write_file(root() / "libferrule-t_two" MODULE_ENDING, "MZ" + std::string(200, '\0'));
  EXPECT_EQ(bad_row("t_two").reason, "it is a module for another system (PE, this one has ELF)");
#endif
}

TEST_F(LoaderFaults, MissingSymbols) {
  put(root(), "t_without_abi");
  EXPECT_EQ(bad_row("t_without_abi").reason, "it is not a ferrule module: it does not export ferrule_backend_abi");
  put(root(), "t_without_init");
  EXPECT_EQ(bad_row("t_without_init").reason, "it is not a ferrule module: it does not export ferrule_backend_init");
  EXPECT_FALSE(noted("opened t_without_init"));
}

TEST_F(LoaderFaults, WrongInterface) {
  put(root(), "t_major");
  bad_row("t_major");
  EXPECT_EQ(code, FE_ABI_MISMATCH);
}

TEST_F(LoaderFaults, InitFailsWithTheModulesOwnError) {
  put(root(), "t_pair-broken");
  EXPECT_EQ(bad_row("t_pair-broken").reason, "the test wants it to fail");
  EXPECT_EQ(code, FE_DEVICE_LOST);
}

TEST_F(LoaderFaults, InitThrowsACxxException) {
  put(root(), "t_throwing");
  const LoadRow bad = bad_row("t_throwing");
  EXPECT_EQ(bad.state, LoadState::error);
  EXPECT_EQ(bad.reason, "its init threw a C++ exception: thrown for the test");
  EXPECT_EQ(code, FE_INTERNAL);
}

TEST_F(LoaderFaults, InitWithAnotherNameThanTheFileIsAnError) {
  put(root(), "t_wrong_name");
  EXPECT_EQ(bad_row("t_wrong_name").reason,
            "its init calls it 't_right_name', and its file is named after 't_wrong_name'");
  EXPECT_TRUE(noted("closed t_wrong_name"));
}

TEST_F(LoaderFaults, TableWithoutAFunction) {
  put(root(), "t_without_compile");
  EXPECT_EQ(bad_row("t_without_compile").reason, "its table has no function 'compile'");
}

TEST_F(LoaderFaults, NoDevices) {
  put(root(), "t_no_device");
  const LoadRow bad = bad_row("t_no_device");
  EXPECT_EQ(bad.state, LoadState::no_device);
  EXPECT_TRUE(noted("closed t_no_device"));
  EXPECT_EQ(Registry::instance().find_backend("t_no_device"), nullptr);
}

TEST_F(LoaderFaults, ScoreOfZero) {
  put(root(), "t_zero");
  EXPECT_CONTAINS(bad_row("t_zero").reason, "cannot run here (score 0)");
  EXPECT_EQ(code, FE_UNSUPPORTED);
}

TEST_F(LoaderFaults, FileChangedAfterTheManifestWasWrittenIsRefused) {
  const fs::path module = put_with_manifest(root(), "t_two", {});
  std::string bytes = text_of_file(module);
  bytes[bytes.size() - 1] = static_cast<char>(bytes.back() ^ 1);
  write_file(module, bytes);
  EXPECT_CONTAINS(bad_row("t_two").reason, "its SHA-256 is not the one in its manifest");
  write_file(module, bytes + "more");
  EXPECT_CONTAINS(bad_row("t_two").reason, "its manifest says");
  EXPECT_FALSE(noted("opened t_two"));
}

TEST_F(LoaderFaults, InvalidManifestsAreErrors) {
  const fs::path module = put(root(), "t_two");
  const fs::path manifest = fs::path(module).replace_extension(".json");
  const auto reason_with = [&](const nlohmann::json& changes) {
    write_manifest(module, changes);
    return bad_row("t_two").reason;
  };
  write_file(manifest, "{\"name\": ");
  EXPECT_CONTAINS(bad_row("t_two").reason, "its manifest libferrule-t_two.json: it is not JSON: parse error at line 1");
  write_file(manifest, "[]");
  EXPECT_CONTAINS(bad_row("t_two").reason, "it is not an object");
  EXPECT_CONTAINS(reason_with({{"name", "t_three"}}), "it is about 't_three'");
  EXPECT_CONTAINS(reason_with({{"name", 3}}), "'name' is not a string");
  EXPECT_CONTAINS(reason_with({{"abi", "0.1"}}), "'abi' is not an object");
  EXPECT_CONTAINS(reason_with({{"size", -1}}), "'size' is -1");
  EXPECT_CONTAINS(reason_with({{"rank", 1e10}}), "'rank' is");
  EXPECT_CONTAINS(reason_with({{"rank", 5000000000}}), "'rank' is 5000000000");
  EXPECT_CONTAINS(reason_with({{"sha256", "abc"}}), "64 hexadecimal digits");
  EXPECT_CONTAINS(reason_with({{"cpu_features", "avx2"}}), "'cpu_features' is not a list of strings");
  EXPECT_CONTAINS(reason_with({{"driver", {1}}}), "'driver' is not a list of strings and objects");
  EXPECT_CONTAINS(reason_with({{"device_kinds", {"toaster"}}}), "toaster");
  const auto reason_with_hashes = [&](const nlohmann::json& hashes) {
    return reason_with({{"abi", {{"major", 0}, {"minor", 1}, {"layout_hashes", hashes}}}});
  };
  EXPECT_CONTAINS(reason_with_hashes({"0xabc"}), "another interface");
  EXPECT_CONTAINS(reason_with_hashes({"abc"}), "'layout_hashes' has \"abc\"");
  EXPECT_CONTAINS(reason_with_hashes(nlohmann::json::array()), "'layout_hashes' lists 0 hashes, and must list 1 to 2");
  EXPECT_CONTAINS(reason_with_hashes({"0x1", "0x2", "0x3"}), "'layout_hashes' lists 3 hashes, and must list 1 to 2");
  EXPECT_FALSE(noted("opened t_two"));
}

TEST_F(LoaderFaults, InvalidModuleNamesAreErrors) {
  fs::copy_file(built("t_two"), root() / "libferrule-Shout" MODULE_ENDING);
  fs::copy_file(built("t_two"), root() / "libferrule-t_two-" MODULE_ENDING);
  fs::copy_file(built("t_two"), root() / "libferrule-t_two" MODULE_ENDING ".1");
  fs::copy_file(built("t_two"), root() / "libother" MODULE_ENDING);
  const LoadReport report = load_from({root()});
  EXPECT_CONTAINS(row(report, "Shout").reason, "a backend's name consists of a-z, 0-9 and _");
  EXPECT_CONTAINS(row(report, "t_two-").reason, "ends with a dash");
  EXPECT_EQ(report.roots.at(0).candidates, 3u);
  EXPECT_EQ(load(root() / "libother" MODULE_ENDING)->name(), "t_two");  // loaded by path: any file name is allowed
}

#if !defined(_WIN32)  // pipes and links are no files there, or need rights
TEST_F(LoaderFaults, NonRegularFileIsARowThatNamesItsKind) {
  fs::create_directory(root() / "libferrule-t_folder" MODULE_ENDING);
  ASSERT_EQ(mkfifo((root() / "libferrule-t_pipe" MODULE_ENDING).c_str(), 0600), 0);
  fs::create_symlink("nowhere", root() / "libferrule-t_dangling" MODULE_ENDING);
  fs::create_symlink("libferrule-t_loop" MODULE_ENDING, root() / "libferrule-t_loop" MODULE_ENDING);
  fs::create_symlink("/dev/zero", root() / "libferrule-t_device" MODULE_ENDING);
  const LoadReport report = load_from({root()});
  EXPECT_EQ(report.roots.at(0).candidates, 6u);
  EXPECT_EQ(row(report, "t_plain").state, LoadState::loaded);
  const auto expect = [&](const char* stem, const char* sentence) {
    EXPECT_EQ(row(report, stem).state, LoadState::error);
    EXPECT_CONTAINS(row(report, stem).reason, sentence);
  };
  expect("t_folder", "it is a folder, not a regular file");
  expect("t_pipe", "it is a pipe, not a regular file");
  expect("t_device", "it is a device, not a regular file");
  expect("t_dangling", "it is a link to 'nowhere', which does not exist");
  expect("t_loop", "it is a link that leads back to itself");
  EXPECT_EQ(error_of([&] { load(root() / "libferrule-t_pipe" MODULE_ENDING); }).code(), FE_INVALID_ARGUMENT);
  EXPECT_EQ(error_of([&] { load(root() / "libferrule-t_absent" MODULE_ENDING); }).code(), FE_NOT_FOUND);
}

TEST_F(LoaderFaults, NonRegularManifestIsRefusedWithoutBlocking) {
  const fs::path module = put(root(), "t_two"), manifest = fs::path(module).replace_extension(".json");
  ASSERT_EQ(mkfifo(manifest.c_str(), 0600), 0);
  EXPECT_CONTAINS(bad_row("t_two").reason, "libferrule-t_two.json: it is a pipe, not a regular file");
  fs::remove(manifest);
  fs::create_symlink("nowhere", manifest);
  EXPECT_CONTAINS(bad_row("t_two").reason, "libferrule-t_two.json: it cannot be read");
  fs::remove(manifest);
  write_file(manifest, std::string((1 << 20) + 1, ' '));
  EXPECT_CONTAINS(bad_row("t_two").reason, "larger than a megabyte");
}
#endif

}  // namespace
}  // namespace ferrule::test
