// environment() and the processes in which it hides variables.
#include "core/environment.h"

#include "other_process.h"
#include "variable.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>
#if defined(_WIN32)
#include <windows.h>
#else
#include <sys/stat.h>
#include <unistd.h>
#endif
#if defined(__linux__)
#include <sys/prctl.h>
#include <sys/statvfs.h>
#endif

namespace ferrule::test {
namespace {

namespace fs = std::filesystem;

#if defined(_WIN32)
TEST(Environment, ValuesOfAnyAlphabetAreUtf8) {
  EXPECT_FALSE(has_more_rights_than_its_caller());
  ASSERT_NE(SetEnvironmentVariableW(L"T_VARIABLE", L"C:\\gr\u00f6\u00dfe;;D:\\\u6e2c\u8a66"), 0);
  EXPECT_EQ(environment("T_VARIABLE"),
            "C:\\gr\xc3\xb6\xc3\x9f"
            "e;;D:\\\xe6\xb8\xac\xe8\xa9\xa6");
  EXPECT_EQ(environment_paths("T_VARIABLE"), (std::vector<fs::path>{L"C:\\gr\u00f6\u00dfe", L"D:\\\u6e2c\u8a66"}));
  const std::wstring longer(5000, L'x');
  ASSERT_NE(SetEnvironmentVariableW(L"T_VARIABLE", longer.c_str()), 0);
  EXPECT_EQ(environment("T_VARIABLE"), std::string(5000, 'x'));
  ASSERT_NE(SetEnvironmentVariableW(L"T_VARIABLE", L"\u00f6"), 0);
  // The case of names does not matter.
  EXPECT_EQ(environment("t_variable"), "\xc3\xb6");
  for (const char* name : {"T_VARIABLE", "t_variable", "t_var*", "*_vari*"})
    EXPECT_EQ(environment_entries({name}), std::vector<std::string>{"T_VARIABLE=\xc3\xb6"}) << name;
  SetEnvironmentVariableW(L"T_VARIABLE", nullptr);
  EXPECT_EQ(environment("T_VARIABLE"), std::nullopt);
}
#else
constexpr uid_t caller = 1, owner = 65534;
constexpr const char* setuid_marker = "T_RIGHTS";  // set in the setuid process of the test below

// Runs in an ordinary process, and is started by the test below in a process with more rights than its caller.
TEST(Environment, ReturnsNothingInSetuidProcesses) {
  const bool is_setuid = std::getenv(setuid_marker) != nullptr;
  EXPECT_EQ(has_more_rights_than_its_caller(), is_setuid);
  const Variable variable("T_VARIABLE", "a:b");
  EXPECT_EQ(environment("T_VARIABLE").has_value(), !is_setuid);
  EXPECT_EQ(environment_paths("T_VARIABLE").size(), is_setuid ? 0u : 2u);
  EXPECT_EQ(environment_names("T_VARIABLE").size(), is_setuid ? 0u : 1u);
  if (is_setuid) _exit(HasFailure() ? 1 : 0);  // such a process cannot be inspected, even by a leak sanitizer
}

TEST(Environment, ThreadEnvironmentHidesTheProcessEnvironment) {
  if (has_more_rights_than_its_caller()) GTEST_SKIP() << "its environment is the caller's";
  const Variable variable("T_VARIABLE", "system");
  std::string longer = "T_VARIABLE_LONGER=no", own = "T_VARIABLE=thread", empty = "T_EMPTY=";
  char* const block[] = {longer.data(), own.data(), empty.data(), nullptr};
  set_thread_environment(block);
  EXPECT_EQ(environment("T_VARIABLE"), "thread");
  EXPECT_EQ(environment("T_EMPTY"), std::nullopt);
  EXPECT_EQ(environment("PATH"), std::nullopt);
  EXPECT_EQ(environment_block(), static_cast<char* const*>(block));
  EXPECT_EQ(environment_entries({"T_VARIABLE*"}), (std::vector<std::string>{own, longer}));
  EXPECT_EQ(environment_entries({"T_EMPTY", "T_VARIABLE", "PATH"}), (std::vector<std::string>{empty, own}));
  EXPECT_EQ(environment_entries({"*_VARIABLE*"}), (std::vector<std::string>{own, longer}));
  EXPECT_EQ(environment_entries({"T_VAR", ""}), std::vector<std::string>());
  std::thread([] { EXPECT_EQ(environment("T_VARIABLE"), "system"); }).join();
  set_thread_environment(nullptr);
  EXPECT_EQ(environment("T_VARIABLE"), "system");
  EXPECT_NE(environment_block(), static_cast<char* const*>(block));
}

#endif

#if defined(__linux__)
TEST(Environment, SetuidCopyOfThisProgramReturnsNothing) {
  if (geteuid() != 0) GTEST_SKIP() << "only root gives a program to somebody else";
  std::string pattern = (fs::temp_directory_path() / "ferrule-test-XXXXXX").string();
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  const fs::path folder = pattern, program = folder / "program";
  struct statvfs system {};
  ASSERT_EQ(statvfs(folder.c_str(), &system), 0);
  if ((system.f_flag & ST_NOSUID) != 0 || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 0) {
    fs::remove_all(folder);
    GTEST_SKIP() << "no program here gets more rights than its caller has";
  }
  ASSERT_EQ(chmod(folder.c_str(), 0755), 0);
  fs::copy_file("/proc/self/exe", program);
  ASSERT_EQ(chown(program.c_str(), owner, owner), 0);
  ASSERT_EQ(chmod(program.c_str(), 04755), 0);
  EXPECT_TRUE(in_processes(1, [&](int) {
    if (setenv(setuid_marker, "1", 1) != 0 || chdir("/") != 0 || setgid(caller) != 0 || setuid(caller) != 0)
      return false;
    execl(program.c_str(), program.c_str(), "--gtest_filter=Environment.ReturnsNothingInSetuidProcesses",
          static_cast<char*>(nullptr));
    return false;
  }));
  fs::remove_all(folder);
}
#endif

}  // namespace
}  // namespace ferrule::test
