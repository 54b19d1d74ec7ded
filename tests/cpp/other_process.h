// Parts of a test that need their own process: another user, a resource limit, several processes at once.
#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <filesystem>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace ferrule::test {

// Runs body in `count` processes at once. Each returns whether its checks passed.
template <class Body>
bool in_processes(int count, Body body) {
  std::vector<pid_t> children;
  for (int i = 0; i < count; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      bool is_content = false;
      try {
        is_content = body(i);
      } catch (const std::exception&) {
      }
      _exit(is_content ? 0 : 1);
    }
    children.push_back(child);
  }
  bool are_content = true;
  for (const pid_t child : children) {
    int status = 0;
    are_content = child > 0 && waitpid(child, &status, 0) == child && status == 0 && are_content;
  }
  return are_content;
}

// Runs body in a process that obeys file modes: root becomes another user, who first receives the folder.
template <class Body>
bool as_ordinary_user(const std::filesystem::path& folder, Body body) {
  constexpr uid_t nobody = 65534;
  if (geteuid() == 0) {
    EXPECT_EQ(chown(folder.c_str(), nobody, nobody), 0);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
      EXPECT_EQ(lchown(entry.path().c_str(), nobody, nobody), 0);
  }
  return in_processes(1, [&](int) {
    if (geteuid() == 0 && (setgid(nobody) != 0 || setuid(nobody) != 0)) return false;
    return static_cast<bool>(body());
  });
}

}  // namespace ferrule::test
