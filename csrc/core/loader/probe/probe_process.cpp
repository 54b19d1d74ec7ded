#include "core/loader/probe/probe_process.h"

#include "core/environment.h"
#include "core/error.h"
#include "core/platform/libraries/library_paths.h"
#include "core/warn_once.h"
#include "module_file/path_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>
#include <system_error>
#include <vector>

#if !defined(_WIN32)
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>

#endif

#ifndef FERRULE_DEFAULT_PROBE_DIR
#define FERRULE_DEFAULT_PROBE_DIR "bin"
#endif

namespace ferrule {
namespace {

namespace fs = std::filesystem;

// The number in an environment variable times `scale`, rounded down; `otherwise`, a multiple of `scale`, when it is
// unset, and with a warning when it is not such a number.
uint64_t number_in(const char* variable, uint64_t otherwise, uint64_t scale) {
  const auto text = environment(variable);
  if (!text) return otherwise;
  char* end = nullptr;
  const double value = std::strtod(text->c_str(), &end);
  if (end != text->c_str() + text->size() || !std::isfinite(value) || value * static_cast<double>(scale) < 1 ||
      value > 1e6) {
    warn_of_variable(variable, *text, "a number above 0 and up to a million", std::to_string(otherwise / scale));
    return otherwise;
  }
  return static_cast<uint64_t>(value * static_cast<double>(scale));
}

bool is_program(const fs::path& path) {
#if defined(_WIN32)
  std::error_code problem;
  return fs::is_regular_file(path, problem);
#else
  return access(path.c_str(), X_OK) == 0;
#endif
}

}  // namespace

ProbeLimits probe_limits() {
  const ProbeLimits standard;
  return {number_in("FERRULE_PROBE_TIMEOUT", standard.milliseconds, 1000),
          number_in("FERRULE_PROBE_MEMORY", standard.mebibytes, 1)};
}

std::optional<fs::path> find_probe() {
#if defined(_WIN32)
  constexpr const char* name = "ferrule-probe.exe";
#else
  constexpr const char* name = "ferrule-probe";
#endif
  for (const fs::path& library : library_dirs())
    for (const fs::path& folder : {library / FERRULE_DEFAULT_PROBE_DIR, library})
      if (fs::path probe = folder / name; is_program(probe)) return probe;
  return std::nullopt;
}

#if !defined(_WIN32)

namespace {

// A file descriptor that is closed on destruction.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { close(); }
  void close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }
  int number() const { return number_; }

 private:
  int number_ = -1;
};

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0)
      fail(FE_IO, "no pipe to its probe could be made: {}", std::generic_category().message(errno));
    reader = apart(ends[0]), writer = apart(ends[1]);
  }
  // Duplicates an end with close-on-exec, numbered above the standard streams: a program may have closed those, and the
  // spawn actions connect the pipes there.
  static Descriptor apart(int end) {
    const Descriptor given(end);
    return Descriptor(fcntl(end, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  }
  Descriptor reader, writer;
};

class Actions {
 public:
  Actions() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
    // The module must not inherit the signals that this program ignores or blocks.
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  }
  ~Actions() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  Actions(const Actions&) = delete;
  Actions& operator=(const Actions&) = delete;
  void connect(int from, int to) { posix_spawn_file_actions_adddup2(&actions_, from, to); }
  void open(int at, const char* path, int flags) { posix_spawn_file_actions_addopen(&actions_, at, path, flags, 0); }
  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

// This program's environment, and for a probe where /proc is not mounted the folder of the probe: the dynamic loader of
// glibc finds libferrule from there.
class ProbeEnvironment {
 public:
  explicit ProbeEnvironment(const fs::path& probe) : origin_("LD_ORIGIN_PATH=" + path_to_text(probe.parent_path())) {
    for (char* const* place = environment_block(); place != nullptr && *place != nullptr; ++place)
      if (!std::string_view(*place).starts_with("LD_ORIGIN_PATH=")) entries_.push_back(*place);
    entries_.push_back(origin_.data());
    entries_.push_back(nullptr);
  }
  char* const* block() const { return entries_.data(); }

 private:
  std::string origin_;
  std::vector<char*> entries_;
};

// A running ferrule-probe. It ends, with all its descendants, when its standard input is closed.
class ProbeProcess {
 public:
  ProbeProcess(const fs::path& probe, const fs::path& module, const ProbeLimits& limits)
      : program_(path_to_text(probe)) {
    Actions actions;
    actions.connect(life_.reader.number(), STDIN_FILENO);
    actions.connect(answer_.writer.number(), STDOUT_FILENO);
    actions.open(STDERR_FILENO, "/dev/null", O_WRONLY);
    std::array<std::string, 7> words = {program_,
                                        "--life",
                                        "--milliseconds",
                                        std::to_string(limits.milliseconds),
                                        "--mebibytes",
                                        std::to_string(limits.mebibytes),
                                        path_to_text(module)};
    std::array<char*, 8> arguments{};
    for (std::size_t i = 0; i < words.size(); ++i) arguments[i] = words[i].data();
    const int problem = posix_spawn(&id_, words[0].c_str(), actions.actions(), actions.attributes(), arguments.data(),
                                    ProbeEnvironment(probe).block());
    if (problem != 0) fail(FE_IO, "{} could not be started: {}", program_, std::generic_category().message(problem));
    life_.reader.close();
    answer_.writer.close();
  }
  ProbeProcess(const ProbeProcess&) = delete;
  ProbeProcess& operator=(const ProbeProcess&) = delete;
  ~ProbeProcess() {
    life_.writer.close();
    answer_.reader.close();
    if (id_ < 0) return;
    if (!has_answered_) kill(id_, SIGKILL);
    // waitpid fails when the program reaps all its children itself.
    while (waitpid(id_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

  // Everything that the probe prints until it ends. Throws timeout after `patience`, io when the answer is unusable.
  std::string answer(std::chrono::milliseconds patience) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    std::string text;
    std::array<char, 4096> bytes{};
    for (;;) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
      if (left.count() <= 0) fail(FE_TIMEOUT, "its probe does not answer, and was ended");
      pollfd waited{answer_.reader.number(), POLLIN, 0};
      const int ready = poll(&waited, 1, static_cast<int>(left.count()));
      if (ready < 0 && errno != EINTR) break;
      if (ready <= 0) continue;
      const ssize_t count = read(answer_.reader.number(), bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) break;
      text.append(bytes.data(), static_cast<std::size_t>(count));
      if (text.size() > largest_answer) fail(FE_IO, "the answer of its probe is too long");
    }
    if (text.empty()) fail_without_answer();
    has_answered_ = true;
    return text;
  }

 private:
  [[noreturn]] void fail_without_answer() {
    for (int tries = 0; tries < 100; ++tries) {
      int status = 0;
      const pid_t ended = waitpid(id_, &status, WNOHANG);
      if (ended < 0 && errno != EINTR) break;
      if (ended == id_) {
        id_ = -1;
        if (WIFEXITED(status))
          fail(FE_IO, "its probe ended with status {} before it answered; run {} to see why", WEXITSTATUS(status),
               program_);
        break;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    fail(FE_IO, "its probe was killed from outside before it answered");
  }

  static constexpr std::size_t largest_answer = std::size_t{1} << 20;
  Pipe life_, answer_;
  std::string program_;
  pid_t id_ = -1;
  bool has_answered_ = false;
};

}  // namespace

std::string run_probe(const fs::path& probe, const fs::path& module, const ProbeLimits& limits) {
  // The probe keeps the limit itself; the extra time is for ending the processes that it started.
  constexpr std::chrono::seconds grace{8};
  ProbeProcess process(probe, module, limits);
  return process.answer(std::chrono::milliseconds(limits.milliseconds) + grace);
}

#endif

}  // namespace ferrule
