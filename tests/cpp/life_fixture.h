// Work on a device of any kind, and child processes with a time limit.
#pragma once

#include "core/copy/transfer.h"
#include "core/executor/executable.h"
#include "core/lazy/array.h"
#include "loader_fixture.h"
#include "ops/table.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <new>
#include <thread>
#include <unistd.h>

// ThreadSanitizer ends a forked child of a multi-threaded process when the child starts a thread.
#if defined(__SANITIZE_THREAD__)
#define FERRULE_SKIP_FORKS() GTEST_SKIP() << "forks of threads are not for ThreadSanitizer"
#else
#define FERRULE_SKIP_FORKS() static_assert(true)
#endif

// The allocator of g++ 12's AddressSanitizer holds its own locks across a fork: even a program with only malloc threads
// and such children hangs with it, and not without it.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define FERRULE_SKIP_FORKS_OF_BUSY_THREADS() GTEST_SKIP() << "the sanitizer's allocator does not survive them"
#else
#define FERRULE_SKIP_FORKS_OF_BUSY_THREADS() static_assert(true)
#endif

namespace ferrule::test {

class LifeTest : public LoaderTest {
 protected:
  LifeTest() : registry(Registry::instance()) {}
  ~LifeTest() override { clear_compile_cache(); }

  std::shared_ptr<Device> watching() {
    load(put(root(), "t_watching"));
    return registry.by_name("t_watching");
  }
  std::shared_ptr<Device> cpu() {
    if (!registry.find_backend("cpu")) load_from(dirs_of_build());
    return registry.by_name("cpu");
  }

  static constexpr int64_t size = 3;
  static std::shared_ptr<Executable> compiled(const std::shared_ptr<Device>& device) {
    Graph graph;
    const ValueId x = graph.add_input("x", {DType::float32, Shape{size}});
    graph.outputs = {graph.add(ops::op_named("add"), std::vector<ValueId>{x, x}, {})};
    return build_executable(std::move(graph), device, Fallback::error, true);
  }
  static StridedArray ones(const std::shared_ptr<Device>& device) {
    const TensorType type{DType::float32, Shape{size}};
    StridedArray view{type, {Storage::allocate(device, type), 0, contiguous_strides(type.shape)}};
    const std::vector<float> values(size, 1);
    write_from_host(view, values.data(), sizeof(float) * size);
    return view;
  }
  static std::vector<float> values_of(const StridedArray& view) {
    std::vector<float> values(size);
    read_to_host(view, values.data(), sizeof(float) * size);
    return values;
  }
  // Waits for the result, and throws if its computation failed.
  static StridedArray run(Executable& executable, const StridedArray& input) {
    StridedArray result = executable.compute({&input, 1}, executable.plan().scalar_defaults)[0];
    if (result.data.storage) result.data.storage->finish_write();
    return result;
  }
  // The whole lifecycle of a device: open, allocate, copy, run a graph, release.
  static std::vector<float> compute_on(const std::shared_ptr<Device>& device) {
    return values_of(run(*compiled(device), ones(device)));
  }

  Registry& registry;
};

// The last action of a child, in a page shared with the parent.
inline std::atomic<const char*>& step_of_child() {
  static void* const page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  static auto& step = *new (page) std::atomic<const char*>("it began");
  return step;
}

// Runs the function in a child with a time limit. The function's return value is the child's report; "" means success.
inline std::string report_of_child(const std::function<std::string()>& function,
                                   std::chrono::seconds longest = std::chrono::seconds(30)) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  step_of_child() = "it began";
  const pid_t child = fork();
  if (child == 0) {
    std::string report;
    try {
      report = function();
    } catch (const std::exception& error) {
      report = std::string("the child threw: ") + error.what();
    }
    const ssize_t written = write(ends[1], report.data(), report.size());
    _exit(written == static_cast<ssize_t>(report.size()) ? 0 : 1);
  }
  close(ends[1]);
  const auto deadline = std::chrono::steady_clock::now() + longest;
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > deadline) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      close(ends[0]);
      return std::string("the child hung after ") + step_of_child().load();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::string report;
  char buffer[4096];
  for (ssize_t count; (count = read(ends[0], buffer, sizeof buffer)) > 0;)
    report.append(buffer, static_cast<std::size_t>(count));
  close(ends[0]);
  if (WIFSIGNALED(status))
    report += fmt::format("the child ended by signal {} after {}", WTERMSIG(status), step_of_child().load());
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0) report += "the child ended with an error";
  return report;
}

}  // namespace ferrule::test
