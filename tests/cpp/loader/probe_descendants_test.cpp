// The descendant processes that the probe's supervisor finds.
#include "probe/posix/descendants.h"

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace ferrule::test {
namespace {

void start_short_processes(const std::atomic<bool>& over) {
  while (!over) {
    const pid_t child = vfork();  // NOLINT(bugprone-unsafe-functions)
    if (child == 0) _exit(0);
    waitpid(child, nullptr, 0);
  }
}

// A process may end between opening and reading its file in /proc: about once in 700 attempts here.
TEST(ProbeDescendants, ProcessMayEndWhileItIsInspected) {
  std::atomic<bool> over = false;
  std::thread first([&over] { start_short_processes(over); }), second([&over] { start_short_processes(over); });
  EXPECT_NO_THROW({
    for (int look = 0; look < 3000; ++look) probe::descendants();
  });
  over = true;
  first.join();
  second.join();
}

}  // namespace
}  // namespace ferrule::test
